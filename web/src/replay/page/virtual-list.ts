// A list of which only the rows in sight exist: tens of thousands of flows are one list.
import { el } from "./dom";

const SPARE = 6;

export interface Rows {
  height: number;
  /** Fills an empty row. */
  fill(row: HTMLElement, index: number): void;
  chosen(index: number): void;
}

export class VirtualList {
  readonly root: HTMLElement;
  private readonly space: HTMLElement;
  private readonly rows = new Map<number, HTMLElement>();
  private count = 0;
  private active = -1;

  constructor(
    label: string,
    private readonly spec: Rows,
  ) {
    this.space = el("div", { class: "space", role: "presentation" });
    this.root = el("div", { class: "virtual", role: "listbox", tabindex: 0, "aria-label": label }, this.space);
    this.root.addEventListener("scroll", () => this.draw());
    this.root.addEventListener("click", (event) => {
      const row = (event.target as Element).closest<HTMLElement>("[data-index]");
      if (row) this.choose(Number(row.dataset["index"]));
    });
    this.root.addEventListener("keydown", (event) => this.key(event));
    // The rows in sight depend on the height, which a hidden list does not have.
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  /** Shows `count` rows anew. */
  reset(count: number): void {
    this.count = count;
    this.active = Math.min(this.active, count - 1);
    this.space.style.height = `${count * this.spec.height}px`;
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.draw();
  }

  /** Those in sight, and a few more. */
  each(visit: (row: HTMLElement, index: number) => void): void {
    for (const [index, row] of this.rows) visit(row, index);
  }

  setActive(index: number, reveal: boolean): void {
    this.rows.get(this.active)?.setAttribute("aria-selected", "false");
    this.active = index;
    if (index < 0) {
      this.root.removeAttribute("aria-activedescendant");
      return;
    }
    if (reveal) {
      const top = index * this.spec.height;
      const { scrollTop, clientHeight } = this.root;
      if (top < scrollTop) this.root.scrollTop = top;
      else if (top + this.spec.height > scrollTop + clientHeight) this.root.scrollTop = top + this.spec.height - clientHeight;
    }
    this.draw();
    const row = this.rows.get(index);
    row?.setAttribute("aria-selected", "true");
    if (row) this.root.setAttribute("aria-activedescendant", row.id);
  }

  private choose(index: number): void {
    this.setActive(index, true);
    this.spec.chosen(index);
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.spec.height) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (by !== undefined && this.count > 0) {
      this.setActive(Math.max(0, Math.min(this.count - 1, this.active + by)), true);
    } else if (event.key === "Enter" && this.active >= 0) {
      this.spec.chosen(this.active);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private draw(): void {
    const { height } = this.spec;
    const first = Math.max(0, Math.floor(this.root.scrollTop / height) - SPARE);
    const last = Math.min(this.count, Math.ceil((this.root.scrollTop + this.root.clientHeight) / height) + SPARE);
    for (const [index, row] of this.rows) {
      if (index >= first && index < last) continue;
      row.remove();
      this.rows.delete(index);
    }
    for (let index = first; index < last; index++) {
      if (this.rows.has(index)) continue;
      const row = el("div", {
        class: "row",
        role: "option",
        id: `${this.id}-${index}`,
        "data-index": index,
        "aria-setsize": this.count,
        "aria-posinset": index + 1,
        "aria-selected": index === this.active ? "true" : "false",
      });
      row.style.height = `${height}px`;
      row.style.top = `${index * height}px`;
      this.spec.fill(row, index);
      this.rows.set(index, row);
      this.space.append(row);
    }
  }

  private readonly id = `list${nextId++}`;
}

let nextId = 0;
