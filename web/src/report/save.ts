// A figure as a file: the drawing itself, pixels of it, or its data. The PDF is a link in the page.
import type { BarData, ChartData, LineData, Num, QuotedData } from "./data";
import { make } from "./dom";

/** Pixels of a picture for one of the drawing. */
const SHARP = 3;

export function saveMenu(figure: HTMLElement, chart: ChartData): void {
  const menu = figure.querySelector(".save");
  const drawing = figure.querySelector<SVGSVGElement>(".still svg");
  if (!menu || !drawing) return;
  const button = (kind: string, save: () => void) => {
    const one = make("button", { type: "button" }, kind, make("span", { class: "hidden" }, ` of ${chart.title}`));
    one.addEventListener("click", save);
    return one;
  };
  menu.append(
    " ",
    button("SVG", () => offer(`${chart.file}.svg`, svgBlob(drawing))),
    " ",
    button("PNG", () => void savePng(drawing, chart.file)),
    " ",
    button("CSV", () => offer(`${chart.file}.csv`, new Blob([csv(chart)], { type: "text/csv" }))),
  );
}

function svgBlob(drawing: SVGSVGElement): Blob {
  return new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" });
}

function offer(name: string, content: Blob): void {
  const link = make("a", { download: name, href: URL.createObjectURL(content) });
  link.click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function savePng(drawing: SVGSVGElement, file: string): Promise<void> {
  const url = URL.createObjectURL(svgBlob(drawing));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = make("canvas");
  const [width, height] = [drawing.width.baseVal.value, drawing.height.baseVal.value];
  canvas.width = SHARP * width;
  canvas.height = SHARP * height;
  const context = canvas.getContext("2d");
  if (context) {
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
  }
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => blob && offer(`${file}.png`, blob), "image/png");
}

type Cells = (string | Num | undefined)[];

const HEAD = ["panel", "kind", "name", "x", "y", "low", "high", "source"];

/** One line for each point, bar and quoted number. Units are those of the axes before a prefix is picked. */
export function csv(chart: ChartData): string {
  const rows: Cells[] = [HEAD];
  for (const panel of chart.panels) {
    for (const line of panel.lines) rows.push(...lineRows(line).map((row) => [panel.title, ...row]));
    for (const bar of panel.bars) rows.push(...barRows(chart, bar).map((row) => [panel.title, ...row]));
    for (const quoted of panel.quoted) rows.push([panel.title, ...quotedRow(chart, quoted)]);
  }
  return rows.map((row) => row.map(cell).join(",")).join("\r\n");
}

function lineRows(line: LineData): Cells[] {
  const points = line.x.map((x, index): Cells => {
    const around = line.intervals.find(([at]) => at === x);
    return ["line", line.name, x, line.y[index], around?.[1], around?.[2], ""];
  });
  return [...points, ...line.never.map((x): Cells => ["line", line.name, x, "inf", null, null, ""])];
}

function barRows(chart: ChartData, bar: BarData): Cells[] {
  return bar.parts.map(({ name, value, interval }) => {
    const [low, high] =
      typeof value === "number" && typeof interval === "number" ? [value - interval, value + interval] : [null, null];
    const place = [chart.groups[bar.group] ?? "", bar.name].filter((of) => of !== "").join(", ");
    return ["bar", name, place as Num, value, low, high, ""];
  });
}

function quotedRow(chart: ChartData, of: QuotedData): Cells {
  const x = of.group === undefined ? of.x : (chart.groups[of.group] as Num | undefined);
  return [`quoted, ${of.shape}`, of.name, x ?? of.from, of.y, null, null, of.source];
}

/** Quoted where it must be. A text that a spreadsheet would take for a formula is made one again. */
function cell(value: string | Num | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) && value !== "-inf" ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
