import assert from "node:assert/strict";
import { test } from "node:test";
import { Screen } from "../src/replay/network/camera";
import { layOut, Side } from "../src/replay/network/layout";

function network(tiers: number[], links: [number, number][], domains?: number[]) {
  return {
    nodes: { name: tiers.map((_, i) => `n${i}`), tier: tiers, domain: domains ?? tiers.map(() => 0) },
    ports: { node: links.flat() },
  };
}

test("hosts lie below their switch, and their links are upright", () => {
  const topology = network([1, 1, 0, 0, 0], [[2, 0], [3, 0], [4, 1], [0, 1]]);
  const layout = layOut(topology);
  assert.deepEqual(layout.groups.map(({ above, hosts }) => [above, hosts]), [[0, [2, 3]], [1, [4]]]);
  for (const port of [1, 3, 5]) assert.equal(layout.anchor[port], layout.x[topology.ports.node[port ^ 1]!]);
  assert.equal(layout.side[6], Side.Right);
  assert.equal(layout.side[7], Side.Left);
});

test("spines are spread over their leaves", () => {
  const links: [number, number][] = [];
  for (let leaf = 2; leaf < 6; leaf++) links.push([leaf, 0], [leaf, 1], [leaf + 4, leaf]);
  const layout = layOut(network([2, 2, 1, 1, 1, 1, 0, 0, 0, 0], links));
  assert.ok(layout.x[0]! < layout.x[1]!);
  assert.ok(layout.x[0]! + layout.width[0]! / 2 < layout.x[1]! - layout.width[1]! / 2);
  assert.equal(layout.rows, 3);
});

test("a ring closes over the switches between", () => {
  const layout = layOut(network([1, 1, 1, 0, 0, 0], [[0, 1], [1, 2], [2, 0], [3, 0], [4, 1], [5, 2]]));
  assert.deepEqual([...layout.lift], [0, 0, 1, 0, 0, 0]);
});

test("domains lie side by side", () => {
  const layout = layOut(network([1, 0, 1, 0], [[1, 0], [3, 2], [0, 2]], [0, 0, 1, 1]));
  assert.equal(layout.domains.length, 2);
  assert.ok(layout.domains[0]!.right < layout.domains[1]!.left);
  assert.ok(layout.x[1]! < layout.domains[0]!.right && layout.x[3]! > layout.domains[1]!.left);
});

test("the two directions of a link are drawn side by side", () => {
  const topology = network([1, 0], [[1, 0]]);
  const screen = new Screen(layOut(topology), topology.ports.node);
  screen.place({ cx: 0.5, cy: 0.5, zoom: 1 }, 800, 600);
  const [up, down] = [screen.lane[0]!, screen.lane[8]!];
  assert.ok(up > down, "traffic keeps to the right");
  assert.ok(screen.lane[1]! > screen.lane[7]!, "hosts are at the bottom");
});

test("magnifying keeps what is under the pointer", () => {
  const topology = network([1, 0, 0, 0], [[1, 0], [2, 0], [3, 0]]);
  const screen = new Screen(layOut(topology), topology.ports.node);
  const view = { cx: 0.5, cy: 0.5, zoom: 1 };
  screen.place(view, 800, 600);
  const [x, y] = [screen.x[2]!, screen.y[2]!];
  screen.place(screen.zoomed(view, 800, 600, 2, x, y), 800, 600);
  assert.ok(Math.abs(screen.x[2]! - x) < 0.01 && Math.abs(screen.y[2]! - y) < 0.01);
});
