// The names of what a figure shows. The name makes its curve stand out in all figures; the box before it hides it here.
import type { Entry } from "./data";
import { isolated, make } from "./dom";
import { swatch } from "./swatch";
import { type Hidden, view } from "./view";

export function legend(entries: Entry[], hidden: Hidden, changed: () => void): HTMLElement {
  const list = make("ul", { class: "legend" });
  if (entries.length < 2) {
    for (const entry of entries) list.append(make("li", {}, swatch(entry), isolated(entry.name)));
    return list;
  }
  for (const entry of entries) list.append(item(entry, hidden, changed));
  return list;
}

function item(entry: Entry, hidden: Hidden, changed: () => void): HTMLElement {
  const box = make("input", { type: "checkbox", "aria-label": `Show ${entry.name}`, title: "Show or hide" });
  box.checked = true;
  const look = make("span", { class: "look" }, swatch(entry));
  const name = make("button", { type: "button", title: "Highlight among the others" }, look, isolated(entry.name));
  const row = make("li", {}, box, name);
  box.addEventListener("change", () => {
    hidden.set(entry.name, !box.checked);
    row.classList.toggle("off", !box.checked);
    changed();
  });
  name.addEventListener("click", () => view.pin(entry.name));
  for (const enter of ["pointerenter", "focus"]) name.addEventListener(enter, () => view.hover(entry.name));
  for (const leave of ["pointerleave", "blur"]) name.addEventListener(leave, () => view.hover(null));
  const show = () => {
    name.setAttribute("aria-pressed", String(view.isPinned(entry.name)));
    look.replaceChildren(swatch(entry));
  };
  show();
  view.onChange(() => name.setAttribute("aria-pressed", String(view.isPinned(entry.name))));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  return row;
}
