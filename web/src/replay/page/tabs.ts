// The tabs at the side. Only the panel that is shown follows the clock; the others catch up when they are opened.
import { button, el } from "./dom";
import type { Panel } from "../panels/panel";

interface Tab {
  name: string;
  panel: Panel;
  button: HTMLButtonElement;
  body: HTMLElement;
  stale: boolean;
}

export class Tabs {
  private readonly tabs: Tab[] = [];
  private current: Tab | null = null;

  constructor(
    private readonly bar: HTMLElement,
    private readonly bodies: HTMLElement,
    private readonly changed: () => void,
  ) {
    bar.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by === undefined || !this.current) return;
      const { offered } = this;
      const next = offered[(offered.indexOf(this.current) + by + offered.length) % offered.length]!;
      this.show(next.name);
      next.button.focus();
      event.preventDefault();
      event.stopPropagation();
    });
  }

  add(name: string, label: string, make: (body: HTMLElement) => Panel): void {
    const body = el("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: 0, hidden: true });
    const tab = button(label, () => this.show(name), { role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, "aria-selected": "false", tabindex: -1 });
    this.bar.append(tab);
    this.bodies.append(body);
    this.tabs.push({ name, panel: make(body), button: tab, body, stale: true });
  }

  /** Hides a tab that has nothing to show, or brings it back. */
  offer(name: string, offered: boolean): void {
    const tab = this.tabs.find((candidate) => candidate.name === name);
    if (!tab) return;
    tab.button.hidden = !offered;
    if (!offered && tab === this.current) this.show(this.offered[0]!.name);
  }

  private get offered(): readonly Tab[] {
    return this.tabs.filter((tab) => !tab.button.hidden);
  }

  get shown(): string | null {
    return this.current?.name ?? null;
  }

  /** An address may name what is not offered: then the tab stays as it is. */
  show(name: string): void {
    const { offered } = this;
    const tab = offered.find((candidate) => candidate.name === name) ?? this.current ?? offered[0];
    if (!tab) return;
    this.current = tab;
    for (const other of this.tabs) {
      const chosen = other === tab;
      other.body.hidden = !chosen;
      other.button.setAttribute("aria-selected", String(chosen));
      other.button.tabIndex = chosen ? 0 : -1;
    }
    if (tab.stale) this.rebuildCurrent();
    else tab.panel.tick();
    this.changed();
  }

  /** Rebuilds the tab shown now, and the others when they are shown. */
  rebuild(): void {
    this.rebuildAndShow(this.shown);
  }

  /** As `rebuild`, but shows another tab: the one shown until now is spared the work. */
  rebuildAndShow(name: string | null): void {
    for (const tab of this.tabs) tab.stale = true;
    if (name !== null) this.show(name);
  }

  tick(): void {
    this.current?.panel.tick();
  }

  recolour(): void {
    for (const { panel } of this.tabs) panel.recolour?.();
  }

  private rebuildCurrent(): void {
    if (!this.current) return;
    this.current.stale = false;
    this.current.panel.rebuild();
  }
}
