// Light and dark: the style sheet holds the colours; what is drawn on canvas reads them from there.

const NAMES = [
  "bg", "panel", "ink", "dim", "line", "node", "node-line", "host", "idle", "queue", "queue-frame", "paused", "on-paused",
  "path", "focus", "burst", "fault", "throughput", "run-0", "run-1", "run-2", "u0", "u1", "u2", "u3", "u4",
] as const;

type Name = (typeof NAMES)[number];

export interface Theme {
  colour: Record<Name, string>;
  /** Colours of utilisation from 0 to 1, in equal steps of lightness. */
  utilisation: string[];
}

export const UTILISATION_STEPS = 12;

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Record<Name, string>;
  const stops = [colour.u0, colour.u1, colour.u2, colour.u3, colour.u4].map(components);
  const utilisation = Array.from({ length: UTILISATION_STEPS }, (_, i) => {
    const at = (i / (UTILISATION_STEPS - 1)) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    const mixed = [0, 1, 2].map((k) => Math.round(stops[low]![k]! + (stops[low + 1]![k]! - stops[low]![k]!) * (at - low)));
    return `rgb(${mixed.join(",")})`;
  });
  return { colour, utilisation };
}

function components(hex: string): number[] {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

const KEY = "xoff-theme";

/** Follows the system until a choice is made, and remembers the choice where the browser lets it. */
export class ThemeSwitch {
  current: Theme = readTheme();
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly changed: () => void) {
    this.dark.addEventListener("change", () => this.apply());
    let stored: string | null = null;
    try {
      stored = localStorage.getItem(KEY);
    } catch {
      // Not allowed here (a file opened from disk, a private window): the choice lasts as long as the page.
    }
    if (stored === "light" || stored === "dark") this.set(stored);
  }

  get isDark(): boolean {
    const chosen = document.documentElement.dataset["theme"];
    return chosen === undefined ? this.dark.matches : chosen === "dark";
  }

  toggle(): void {
    this.set(this.isDark ? "light" : "dark");
    try {
      localStorage.setItem(KEY, this.isDark ? "dark" : "light");
    } catch {
      // As above.
    }
  }

  private set(choice: "light" | "dark"): void {
    document.documentElement.dataset["theme"] = choice;
    this.apply();
  }

  private apply(): void {
    this.current = readTheme();
    this.changed();
  }
}
