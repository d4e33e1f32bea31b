// Colours as the figures have them, made to stand out from a dark ground too.

/** Whether the reader's system is set to dark. */
export const night = window.matchMedia("(prefers-color-scheme: dark)");

type Rgb = readonly [number, number, number];

export function parse(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Relative luminance as WCAG defines it. */
function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((part) => {
    const of = part / 255;
    return of <= 0.04045 ? of / 12.92 : ((of + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function lighter(rgb: Rgb, part: number): Rgb {
  return rgb.map((of) => Math.round(of + (255 - of) * part)) as unknown as Rgb;
}

/** What a dark page has behind its figures. */
const GROUND = luminance(parse("#14171c"));
/** A line must have this contrast. */
const CONTRAST = 4.5;

/** The colour itself by day; by night as much lighter as it needs. */
export function shown(hex: string, dark: boolean): string {
  if (!dark) return hex;
  const rgb = parse(hex);
  for (let part = 0; part < 1; part += 0.08) {
    const light = lighter(rgb, part);
    if ((luminance(light) + 0.05) / (GROUND + 0.05) >= CONTRAST) return `rgb(${light.join(" ")})`;
  }
  return "#ffffff";
}

/** Colours of everything that is not data. */
export interface Ground {
  ink: string;
  quiet: string;
  faint: string;
  paper: string;
  grey: string;
}

export function ground(dark: boolean): Ground {
  return dark
    ? { ink: "#e6e8eb", quiet: "#a9b0b9", faint: "#2c323a", paper: "#14171c", grey: "#4a525c" }
    : { ink: "#222222", quiet: "#5f6670", faint: "#e7e9ec", paper: "#ffffff", grey: "#cfd4da" };
}
