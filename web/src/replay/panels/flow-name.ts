// What a flow is called in lists and headings.
import type { Flows } from "../data/contract";
import type { Run } from "../data/run";
import { el, nameOf } from "../page/dom";

export const flowLabel = (flows: Flows, flow: number): HTMLElement => nameOf(flows.texts[flows.label[flow]!] ?? "");

export const flowEnds = (run: Run, flows: Flows, flow: number): HTMLElement =>
  el("span", {}, nameOf(run.nodeName(flows.src[flow]!)), " → ", nameOf(run.nodeName(flows.dst[flow]!)));

/** Its label, as the scenario calls it, and its ends. */
export const flowName = (run: Run, flows: Flows, flow: number): HTMLElement =>
  el("span", {}, flowLabel(flows, flow), " · ", ...flowEnds(run, flows, flow).childNodes);
