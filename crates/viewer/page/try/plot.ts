// Plots a quantity over time for both machines.
import type { Point } from "../src/thin.ts";
import { paper } from "../src/theme.ts";

/** The margins around the curves, in pixels. */
const LEFT = 40, RIGHT = 8, ABOVE = 8, BELOW = 18;

/** Rounds the end of an axis up to 1, 2, 5 or 10 times a power of ten. */
function round(value: number): number {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return unit * ([1, 2, 5, 10].find((one) => one * unit >= value) ?? 10);
}

/**
 * Draws a solid curve for the first machine and a dashed one for the second. Both axes begin at 0.
 * `most` is the end of the vertical axis, or null if it depends on the values.
 */
export function plot(
  canvas: HTMLCanvasElement, curves: Point[][], most: number | null, dark: boolean,
): void {
  const pen = canvas.getContext("2d"), scale = window.devicePixelRatio || 1, page = paper(dark);
  if (!pen) return;
  const { clientWidth, clientHeight } = canvas;
  canvas.width = clientWidth * scale;
  canvas.height = clientHeight * scale;
  pen.scale(scale, scale);
  const width = clientWidth - LEFT - RIGHT, height = clientHeight - ABOVE - BELOW;
  const all = curves.flat(), last = Math.max(1e-9, ...curves.map((one) => one.at(-1)?.at ?? 0));
  const top = most ?? round(all.reduce((greatest, { value }) => Math.max(greatest, value), 0));
  const x = (at: number) => LEFT + (at / last) * width;
  const y = (value: number) => ABOVE + height * (1 - value / top);
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = page.soft;
  pen.strokeStyle = page.faint;
  pen.textAlign = "right";
  for (const share of [0, 0.5, 1]) {
    const value = share * top, at = Math.round(y(value)) + 0.5;
    pen.beginPath();
    pen.moveTo(LEFT, at);
    pen.lineTo(LEFT + width, at);
    pen.stroke();
    const text = most === 1 ? `${100 * value}%` : String(Number(value.toPrecision(3)));
    pen.fillText(text, LEFT - 5, at + 3.5);
  }
  const end = last > 1e-6 ? last.toFixed(last < 10 ? 1 : 0) : "0";
  pen.fillText(end, LEFT + width, ABOVE + height + 14);
  pen.textAlign = "left";
  pen.fillText("0", LEFT, ABOVE + height + 14);
  pen.lineWidth = 2;
  pen.lineJoin = "round";
  curves.forEach((points, index) => {
    pen.strokeStyle = index ? page.largest : page.busy;
    pen.setLineDash(index ? [6, 3] : []);
    pen.beginPath();
    for (const { at, value } of points) pen.lineTo(x(at), y(Math.min(top, value)));
    pen.stroke();
  });
  pen.setLineDash([]);
}
