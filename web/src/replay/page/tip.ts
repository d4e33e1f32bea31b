// The tooltip: its first line is a name, the others are values.
import { byId, el } from "./dom";

export function showTip(lines: readonly string[] | null, x: number, y: number): void {
  const tip = byId("tip");
  tip.hidden = lines === null;
  if (lines === null) return;
  tip.replaceChildren(...lines.map((line, i) => el(i === 0 ? "strong" : "span", { dir: "auto" }, line)));
  const left = Math.min(x + 14, innerWidth - tip.offsetWidth - 6);
  const above = y + 18 + tip.offsetHeight > innerHeight;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${above ? y - tip.offsetHeight - 10 : y + 16}px)`;
}
