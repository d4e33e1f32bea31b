import assert from "node:assert/strict";
import { test } from "node:test";
import type { Source } from "../src/replay/data/source";
import { decodeTile, firstRow, levelFor, locate, Moment, Tiles } from "../src/replay/data/tiles";

/** Rows of (port, window, tx, queue, paused, marks). */
function encode(rows: readonly number[][]): ArrayBuffer {
  const n = rows.length;
  const bytes = new ArrayBuffer(4 + 24 * n);
  const view = new DataView(bytes);
  view.setUint32(0, n, true);
  rows.forEach((row, i) =>
    row.forEach((value, column) => {
      const at = 4 + (column * n + i) * 4;
      if (column === 4) view.setFloat32(at, value, true);
      else view.setUint32(at, value, true);
    }),
  );
  return bytes;
}

const rows = [
  [0, 5, 500_000, 100, 0, 0],
  [3, 5, 250_000, 0, 50, 2],
  [1, 7, 1, 2, 3, 4],
];

test("a tile gives what each port did in a window", () => {
  const tile = decodeTile(encode(rows));
  assert.equal(firstRow(tile, 6), 2);
  const moment = new Moment(4);
  moment.fill(tile, 5, 100, [40, 40, 40, 40]);
  assert.equal(moment.utilisation[0], 1);
  assert.equal(moment.utilisation[3], 0.5);
  assert.equal(moment.paused[3], 0.5);
  assert.equal(moment.queue[0], 100);
  assert.equal(moment.from, 500);
  moment.fill(tile, 6, 100, [40, 40, 40, 40]);
  assert.deepEqual([...moment.queue], [0, 0, 0, 0]);
});

const grid = { windowUs: 100, windows: 1100, tileWindows: 64, levels: 3 };

test("instants lie in windows, and the end in the last one", () => {
  assert.deepEqual(locate(grid, 0, 6400), { window: 64, tile: 1, width: 100 });
  assert.deepEqual(locate(grid, 1, 6400), { window: 16, tile: 0, width: 400 });
  assert.equal(locate(grid, 0, 110_000).window, 1099);
});

test("fast replay uses coarse windows", () => {
  assert.equal(levelFor(grid, 0), 0);
  assert.equal(levelFor(grid, 399), 0);
  assert.equal(levelFor(grid, 400), 1);
  assert.equal(levelFor(grid, 1e9), 2);
});

test("a coarser tile stands in until the right one is there", async () => {
  const asked: string[] = [];
  const source: Source = {
    mayHave: () => true,
    bytes: (path) => {
      asked.push(path);
      return Promise.resolve(path.endsWith("tile/0/1") ? null : encode(rows));
    },
  };
  let arrived = 0;
  const tiles = new Tiles(source, "0", grid, () => arrived++);
  assert.equal(tiles.at(0, 6400), null);
  await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(tiles.at(0, 6400)?.width, 400);
  assert.deepEqual(asked, ["0/tile/0/1", "0/tile/1/0", "0/tile/2/0"]);
  assert.equal(arrived, 2);
});
