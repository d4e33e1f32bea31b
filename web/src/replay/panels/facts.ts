// Names and values under each other.
import { el } from "../page/dom";

export type Fact = [label: string, value: string | Node, exact?: number];

/** With `exact`, the value can be read by a program from `data-value`. */
export function facts(list: readonly Fact[]): HTMLElement {
  const root = el("dl", { class: "facts" });
  for (const [label, value, exact] of list) {
    root.append(el("div", {}, el("dt", {}, label), el("dd", exact === undefined ? {} : { "data-value": exact }, value)));
  }
  return root;
}

export const note = (text: string): HTMLElement => el("p", { class: "note" }, text);
export const heading = (text: string): HTMLElement => el("h3", {}, text);
