// Light and dark: the style sheet holds the colours; what is drawn on canvas reads them from there.

const NAMES = [
  "bg", "panel", "ink", "dim", "line", "node", "node-line", "host", "idle", "queue", "queue-frame", "paused", "on-paused",
  "path", "focus", "burst", "fault", "throughput", "compute", "communication", "run-0", "run-1", "run-2", "run-3", "run-4", "run-5", "u0", "u1", "u2", "u3", "u4",
] as const;

export type ColourName = (typeof NAMES)[number];

const RUN_COLOURS = ["run-0", "run-1", "run-2", "run-3", "run-4", "run-5"] as const;

export type RunColour = (typeof RUN_COLOURS)[number];

/**
 * Colours of the runs of these numbers: a run keeps its own whatever it is shown with, unless there are more runs than
 * colours and another one has the same; of two alike, the later takes the next that is free.
 */
export function runColours(numbers: readonly number[]): RunColour[] {
  const taken: RunColour[] = [];
  for (const number of numbers) {
    const inTurn = RUN_COLOURS.map((_, i) => RUN_COLOURS[(number + i) % RUN_COLOURS.length]!);
    taken.push(inTurn.find((colour) => !taken.includes(colour)) ?? inTurn[0]!);
  }
  return taken;
}

export interface Theme {
  colour: Record<ColourName, string>;
  /** Colours of utilisation from 0 to 1, in equal steps of lightness. */
  utilisation: string[];
}

export const UTILISATION_STEPS = 12;

function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Record<ColourName, string>;
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
  current: Theme;
  private readonly system = matchMedia("(prefers-color-scheme: dark)");
  private readonly darkRule = findDarkRule();
  private chosen: "light" | "dark" | null = remembered();

  constructor(private readonly changed: () => void) {
    this.system.addEventListener("change", () => this.apply());
    this.current = this.read();
  }

  toggle(): void {
    const dark = this.chosen === null ? this.system.matches : this.chosen === "dark";
    this.chosen = dark ? "light" : "dark";
    remember(this.chosen);
    this.apply();
  }

  private apply(): void {
    this.current = this.read();
    this.changed();
  }

  private read(): Theme {
    // The dark colours stand once in the style sheet, under a condition, which a choice overrides.
    if (this.chosen !== null) this.darkRule.media.mediaText = this.chosen === "dark" ? "all" : "not all";
    return readTheme();
  }
}

function findDarkRule(): CSSMediaRule {
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (rule instanceof CSSMediaRule && rule.conditionText.includes("prefers-color-scheme")) return rule;
    }
  }
  throw new Error("the style sheet has no dark colours");
}

function remembered(): "light" | "dark" | null {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === "light" || stored === "dark" ? stored : null;
  } catch {
    // Not allowed here (a file opened from disk, a private window): the choice lasts as long as the page.
    return null;
  }
}

function remember(choice: "light" | "dark"): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // As above.
  }
}
