// The small table beside the pointer.
import { night, shown } from "../shared/palette";
import { isolated, make } from "./dom";
import type { Row, Told } from "./scene";
import { swatch } from "./swatch";

export class Tip {
  private readonly element = make("div", { class: "tip", "aria-hidden": "true" });

  constructor(private readonly plot: HTMLElement) {
    plot.append(this.element);
  }

  hide(): void {
    this.element.classList.remove("on");
  }

  /** `x` and `y` from the top left of the plot, in pixels of the page. */
  show(told: Told, x: number, y: number): void {
    const rows = told.rows.map(line);
    this.element.replaceChildren(...(told.head ? [make("div", { class: "head" }, isolated(told.head))] : []), ...rows);
    this.element.classList.add("on");
    const { width, height } = this.element.getBoundingClientRect();
    const room = this.plot.clientWidth;
    const left = x + 16 + width > room ? Math.max(0, x - 16 - width) : x + 16;
    const top = Math.max(0, Math.min(y - height / 2, this.plot.clientHeight - height));
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}

function line(row: Row): HTMLElement {
  const mark = make("span", { class: "mark" });
  if (row.colour && row.shape !== null) mark.append(swatch({ colour: row.colour, dash: null, shape: row.shape }));
  const value = make("span", { class: "value" }, row.text);
  const of = make("div", { class: row.near ? "row near" : "row" }, mark, isolated(row.name), value);
  if (row.colour && row.near) of.style.setProperty("--own", shown(row.colour, night.matches));
  return of;
}
