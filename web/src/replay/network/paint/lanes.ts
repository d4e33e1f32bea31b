// The directions of links: one line each.
import { UTILISATION_STEPS } from "../../page/theme";
import { bundled, inSight, type Canvas } from "./canvas";

// Long paths of many lines are slow to fill in software; short ones cost a call each.
const LINES_PER_PATH = 48;

/** Below this utilisation a link shows as idle. */
const IDLE = 0.005;

/** Ports further apart than this have a frame around their bar, and the line begins behind it. */
export const FRAMED = 9;

export const laneWidth = (c: Canvas, port: number): number => Math.max(1, Math.min(3.5, c.screen.pitch[port]! * 0.16));

export function strokeLanes(c: Canvas, ports: readonly number[], colour: string, width: number, behindBars = false): void {
  if (ports.length === 0) return;
  c.ctx.strokeStyle = colour;
  c.ctx.lineWidth = width;
  for (let i = 0; i < ports.length; i += LINES_PER_PATH) {
    c.ctx.beginPath();
    for (let k = i; k < Math.min(ports.length, i + LINES_PER_PATH); k++) {
      trace(c, ports[k]!, behindBars && c.screen.pitch[ports[k]!]! >= FRAMED);
    }
    c.ctx.stroke();
  }
}

function trace(c: Canvas, port: number, behindBar: boolean): void {
  const { lane } = c.screen;
  const at = port * 8;
  if (behindBar) {
    c.ctx.moveTo(lane[at + 2]!, lane[at + 3]!);
  } else {
    c.ctx.moveTo(lane[at]!, lane[at + 1]!);
    c.ctx.lineTo(lane[at + 2]!, lane[at + 3]!);
  }
  c.ctx.lineTo(lane[at + 4]!, lane[at + 5]!);
  c.ctx.lineTo(lane[at + 6]!, lane[at + 7]!);
}

/** The step of the scale of colours that a utilisation belongs to. */
const step = (utilisation: number): number =>
  Math.max(0, Math.min(UTILISATION_STEPS - 1, Math.round(utilisation * (UTILISATION_STEPS - 1))));

export function paintTraffic(c: Canvas, paused: ReadonlySet<number>): void {
  const { utilisation } = c.run.moment;
  const steps: number[][] = Array.from({ length: UTILISATION_STEPS }, () => []);
  for (let port = 0; port < utilisation.length; port++) {
    if (utilisation[port]! < IDLE || paused.has(port) || bundled(c, port) || !inSight(c, port)) continue;
    steps[step(utilisation[port]!)]!.push(port);
  }
  steps.forEach((ports, i) => {
    if (ports.length > 0) strokeLanes(c, ports, c.theme.utilisation[i]!, laneWidth(c, ports[0]!), true);
  });
}

export const utilisationColour = (c: Canvas, utilisation: number): string => c.theme.utilisation[step(utilisation)]!;
