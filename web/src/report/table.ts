// Tables that sort: by what numbers mean, whatever their unit.
import { make } from "./dom";

/** How much of a unit of its own kind each is. */
const UNITS: Record<string, number> = {
  ns: 1e-3, us: 1, µs: 1, ms: 1e3, s: 1e6, min: 6e7, h: 3.6e9,
  B: 1, bytes: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12,
  bps: 1e-9, Kbps: 1e-6, Mbps: 1e-3, Gbps: 1, Tbps: 1e3,
  "%": 1, k: 1e3, M: 1e6, G: 1e9,
};

/** Words in place of numbers. */
const WORDS: Record<string, number> = { never: Infinity, "not yet": Infinity, "not in this run": Infinity, "the end": Infinity, none: 0, no: 0 };

/** The number that a cell begins with, in the unit of its kind; null for none. `12.3 ± 0.5 us*` is 12.3. */
export function numberOf(text: string): number | null {
  const plain = text.trim().replace(/[*^]+$/, "");
  const word = WORDS[plain.toLowerCase()];
  if (word !== undefined) return word;
  const found = /^([+−-]?)(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(?:[±(][^a-zA-Zµ%]*)?([a-zA-Zµ%]*)/.exec(plain);
  if (!found) return null;
  const [, sign, digits, unit] = found;
  const value = Number((digits ?? "").replaceAll(",", "")) * (UNITS[unit ?? ""] ?? 1);
  return sign === "" || sign === "+" ? value : -value;
}

/** Numbers before words, words by the alphabet; what is missing comes last, whatever the direction. */
export function compare(a: string, b: string, down: boolean): number {
  const missing = (text: string) => text === "" || text === "-";
  if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
  const [x, y] = [numberOf(a), numberOf(b)];
  const turn = down ? -1 : 1;
  if (x !== null && y !== null) return turn * (x === y ? 0 : x < y ? -1 : 1);
  if (x !== null || y !== null) return turn * (x === null ? 1 : -1);
  return turn * a.localeCompare(b, "en", { numeric: true });
}

/** Rows that belong together: one that explains goes where its row goes, and the sum stays at the foot. */
function bundles(body: HTMLTableSectionElement): { moving: HTMLTableRowElement[][]; last: HTMLTableRowElement[] } {
  const moving: HTMLTableRowElement[][] = [];
  const last: HTMLTableRowElement[] = [];
  for (const row of body.rows) {
    const before = moving[moving.length - 1];
    if (row.classList.contains("last")) last.push(row);
    else if (row.classList.contains("why") && before) before.push(row);
    else moving.push([row]);
  }
  return { moving, last };
}

export function makeSortable(table: HTMLTableElement): void {
  const [body] = table.tBodies;
  const head = table.tHead?.querySelector<HTMLTableRowElement>("tr.keys");
  if (!body || !head || body.rows.length < 2) return;
  const original = bundles(body);
  const heads = [...head.cells].filter((cell) => cell.tagName === "TH");
  for (const cell of heads) {
    const button = make("button", { type: "button", title: "Sort by this" });
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      // As it is, up, down, and as it was.
      const was = cell.getAttribute("aria-sort");
      for (const other of heads) other.removeAttribute("aria-sort");
      const next = was === null ? "ascending" : was === "ascending" ? "descending" : null;
      if (next) cell.setAttribute("aria-sort", next);
      const key = (rows: HTMLTableRowElement[]) => rows[0]?.cells[cell.cellIndex]?.textContent?.trim() ?? "";
      const order = [...original.moving];
      if (next) order.sort((a, b) => compare(key(a), key(b), next === "descending"));
      body.append(...order.flat(), ...original.last);
    });
  }
}
