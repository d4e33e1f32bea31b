// What is being looked at, as the fragment of the address: a view can be sent.
import type { Range } from "./time/range";

export interface ViewState {
  t: number | null;
  /** Part of the run that the time line shows. */
  range: Range | null;
  /** Centre (share of the width and height of the network) and magnification of the picture. */
  camera: [number, number, number] | null;
  /** Name of the port selected. */
  port: string | null;
  node: string | null;
  /** Number of the flow selected, in the run `run`. */
  flow: number | null;
  run: number | null;
  /** The runs shown side by side. */
  runs: number[] | null;
  tab: string | null;
}

const number = (text: string | null): number | null => {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
};

function numbers(text: string | null): number[] | null {
  if (text === null) return null;
  const values = text.split(",").map((part) => number(part));
  return values.every((value) => value !== null) ? (values as number[]) : null;
}

const whole = (value: number | null): number | null => (value !== null && Number.isInteger(value) && value >= 0 ? value : null);

export function readState(hash: string): ViewState {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const range = numbers(fields.get("range"));
  const camera = numbers(fields.get("camera"));
  const runs = numbers(fields.get("runs"));
  return {
    t: number(fields.get("t")),
    range: range?.length === 2 && range[0]! < range[1]! ? [range[0]!, range[1]!] : null,
    camera: camera?.length === 3 && camera[2]! >= 1 ? [camera[0]!, camera[1]!, camera[2]!] : null,
    port: fields.get("port"),
    node: fields.get("node"),
    flow: whole(number(fields.get("flow"))),
    run: whole(number(fields.get("run"))),
    runs: runs && runs.length > 0 && runs.every((run) => whole(run) !== null) ? runs.slice(0, 3) : null,
    tab: fields.get("tab"),
  };
}

const round = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

export function writeState(state: ViewState): string {
  const fields = new URLSearchParams();
  if (state.t !== null) fields.set("t", round(state.t, 6));
  if (state.range) fields.set("range", state.range.map((us) => round(us, 3)).join(","));
  if (state.camera) fields.set("camera", state.camera.map((value) => round(value, 4)).join(","));
  if (state.port !== null) fields.set("port", state.port);
  if (state.node !== null) fields.set("node", state.node);
  if (state.flow !== null) fields.set("flow", String(state.flow));
  if (state.run !== null) fields.set("run", String(state.run));
  if (state.runs) fields.set("runs", state.runs.join(","));
  if (state.tab !== null) fields.set("tab", state.tab);
  return fields.toString().replaceAll("%2C", ",").replaceAll("%3E", ">");
}
