// What is known of a port over the whole of a run.
import { bytes, duration, exactBytes, grouped, percent } from "../../shared/format";
import type { Run } from "../data/run";
import { el } from "../page/dom";
import { facts, type Fact } from "./facts";

/** Exact numbers, per priority. */
export function portFacts(run: Run, port: number): HTMLElement {
  const root = el("div", { "data-testid": "port-facts", "data-run": run.number });
  const { queues, port_totals: totals } = run.head;
  const all = run.queueRows.get(port) ?? [];
  // A priority that nothing used and that has no threshold says nothing.
  const used = all.filter(
    (row) => queues.queue_peak_bytes[row]! > 0 || queues.ingress_peak_bytes[row]! > 0 || queues.paused_us[row]! > 0 || queues.drops[row]! > 0 || queues.xoff_bytes[row] != null,
  );
  const rows = used.length > 0 ? used : all.slice(0, 1);
  for (const row of rows) {
    const xoff = queues.xoff_bytes[row];
    const headroom = queues.headroom_bytes[row];
    const list: Fact[] = [
      ["queue peak", exactBytes(queues.queue_peak_bytes[row]!), queues.queue_peak_bytes[row]!],
      ["queue mean", exactBytes(Math.round(queues.queue_mean_bytes[row]!)), queues.queue_mean_bytes[row]!],
      ["ingress peak", exactBytes(queues.ingress_peak_bytes[row]!), queues.ingress_peak_bytes[row]!],
      ["xoff", xoff === null || xoff === undefined ? "none" : exactBytes(xoff)],
      ["headroom", headroom === null || headroom === undefined ? "none" : exactBytes(headroom)],
      ["paused", duration(queues.paused_us[row]!), queues.paused_us[row]!],
      ["ECN marks", grouped(queues.marks[row]!), queues.marks[row]!],
      ["drops", grouped(queues.drops[row]!), queues.drops[row]!],
    ];
    if (all.length > 1) root.append(el("h4", {}, `priority ${queues.priority[row]}`));
    root.append(facts(list));
  }
  root.append(
    facts([
      ["sent", bytes(totals.tx_bytes[port] ?? 0), totals.tx_bytes[port] ?? 0],
      ["utilisation", percent(totals.utilisation[port] ?? 0)],
      ["PAUSE frames", grouped(totals.pause_frames[port] ?? 0)],
      ["RESUME frames", grouped(totals.resume_frames[port] ?? 0)],
    ]),
  );
  return root;
}
