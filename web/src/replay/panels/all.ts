// The tabs at the side, in their order.
import { focused, type App } from "../app";
import type { Tabs } from "../page/tabs";
import { AboutPanel } from "./about";
import { FlowPanel } from "./flow";
import { FlowsPanel } from "./flows";
import { JobsPanel } from "./jobs";
import { PausedPanel } from "./paused";
import { PortPanel } from "./port";
import { VictimsPanel } from "./victims";

export function addPanels(tabs: Tabs, app: App): void {
  let flows: FlowsPanel;
  const showFlowsOf = (port: number): void => {
    flows.restrict(focused(app).portName(port));
    tabs.show("flows");
  };
  tabs.add("paused", "Paused", (body) => new PausedPanel(app, body));
  tabs.add("jobs", "Jobs", (body) => new JobsPanel(app, body));
  tabs.add("port", "Port", (body) => new PortPanel(app, body, showFlowsOf));
  tabs.add("victims", "Victims", (body) => new VictimsPanel(app, body));
  tabs.add("flows", "Flows", (body) => (flows = new FlowsPanel(app, body)));
  tabs.add("flow", "Flow", (body) => new FlowPanel(app, body));
  tabs.add("about", "Run", (body) => new AboutPanel(app, body));
}
