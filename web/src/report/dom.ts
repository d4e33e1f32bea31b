// Elements. Texts are set as texts, so that no name of a file is ever taken for HTML.

type Attributes = Record<string, string>;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A name that cannot turn the text around it. */
export function isolated(name: string): HTMLElement {
  return make("bdi", {}, name);
}

const SVG = "http://www.w3.org/2000/svg";

export function makeSvg(tag: string, attributes: Attributes, ...children: Node[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
