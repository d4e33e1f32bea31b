// Finds a port by name, without the mouse.
import { byId, el } from "./dom";

const OFFERED = 60;

export function connectPortSearch(names: () => readonly string[], chosen: (name: string) => void): void {
  const input = byId<HTMLInputElement>("port-input");
  const list = byId("port-names");
  const offer = (): readonly string[] => {
    const wanted = input.value.trim().toLowerCase();
    const found = names().filter((name) => name.toLowerCase().includes(wanted)).slice(0, OFFERED);
    list.replaceChildren(...found.map((value) => el("option", { value })));
    return found;
  };
  input.addEventListener("focus", offer);
  input.addEventListener("input", () => {
    offer();
    if (names().includes(input.value)) chosen(input.value);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const first = offer()[0];
    if (first !== undefined) chosen(names().includes(input.value) ? input.value : first);
    event.preventDefault();
  });
}
