// The interface for tests and measurements, exposed as `window.pavior`.
import { largestFree } from "./fits.ts";
import { Machine, type Part, nodesOf } from "./model.ts";
import type { Look } from "./shapes.ts";
import type { Stage } from "./stage.ts";
import { columns } from "./thin.ts";
import type { Timeline } from "./timeline.ts";

const middle = (numbers: number[]): number => numbers.sort((a, b) => a - b)[numbers.length >> 1];

interface Shown {
  page: { machine: Machine | null; marks: unknown[]; moves: unknown[] };
  stage: Stage;
  timeline: Timeline;
  look(machine: Machine): Look;
}

const frame = () => new Promise((done) => requestAnimationFrame(done));

/** Measures the drawing of a rotating machine. Returns the number of frames per second, the
 * milliseconds of the page's own work per frame (up to the transfer to the GPU process) and per
 * rebuild (as after an event), and the number of triangles in the last frame. */
async function frames({ page, stage, look }: Shown, ms: number): Promise<Record<string, number>> {
  const { deep } = stage, { machine } = page;
  if (!deep || !machine) return {};
  // The first frame waits until the GPU process has compiled its shaders.
  deep.turn(0.02, 0);
  await frame();
  await frame();
  const began = performance.now(), works: number[] = [], builds: number[] = [];
  while (performance.now() - began < ms) {
    const turned = performance.now();
    deep.turn(0.02, 0);
    const work = performance.now() - turned;
    await frame();
    works.push(work + deep.spent);
  }
  const rate = (1000 * works.length) / (performance.now() - began);
  for (let count = 0; count < 9; count++) {
    const asked = performance.now();
    deep.build(machine, look(machine));
    builds.push(performance.now() - asked);
  }
  return { rate, work: middle(works), build: middle(builds), triangles: deep.triangles };
}

export function exposeForTests(shown: Shown): void {
  const { page, stage, timeline } = shown;
  Object.assign(window, {
    pavior: {
      page, stage, Machine, columns, nodesOf, chart: timeline.chart,
      largestFree: (): Part | null | undefined => page.machine && largestFree(page.machine),
      frames: (ms = 2000) => frames(shown, ms),
    },
  });
}
