// What moves in a report: tables sort, figures can be looked into and saved. Without it the page says the same.
import type { ChartData } from "./data";
import { LiveFigure } from "./figure";
import { saveMenu } from "./save";
import { makeSortable } from "./table";

for (const table of document.querySelectorAll<HTMLTableElement>("table.sortable")) makeSortable(table);

/** Plots are made when they come near, since a page may have a thousand. */
const near = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      const chart = charts.get(target);
      if (chart) new LiveFigure(chart, target as HTMLElement);
    }
  },
  { rootMargin: "1000px" },
);

const charts = new Map<Element, ChartData>();
for (const figure of document.querySelectorAll<HTMLElement>("figure")) {
  const data = figure.querySelector('script[type="application/json"]')?.textContent;
  if (!data) continue;
  const chart = JSON.parse(data) as ChartData;
  charts.set(figure, chart);
  saveMenu(figure, chart);
  near.observe(figure);
}
