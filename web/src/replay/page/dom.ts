// Elements made by hand. Names come from scenarios and may hold anything: they only ever become text.
import { visible } from "../../shared/format";

type Attributes = Record<string, string | number | boolean | null>;
type Child = Node | string | null;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** A name from a scenario: its direction does not spill over, and what cannot be seen in it is shown. */
export const nameOf = (text: string): HTMLElement => el("bdi", { class: "name" }, visible(text));

export function button(label: string, pressed: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", pressed);
  return element;
}

/** A button that shows a name. */
export function nameButton(text: string, pressed: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = el("button", { type: "button", class: "link", ...attributes }, nameOf(text));
  element.addEventListener("click", pressed);
  return element;
}

/** An element of the shell; it is a fault of the shell if it is missing. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

/** The text of an element, written only if it changes. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
