// Patterns drawn over colors when there are more items than colors.
import { type Shade, css } from "./colors.ts";

/** The available patterns: none, stripes, dots. */
export const PATTERNS = 3;
/** The side length, in pixels, of the square that a pattern repeats. */
export const SIDE = 6;
/** The stripe width and dot radius as fractions of `SIDE`, and the opacity of both. */
export const STRIPE = 0.34, DOT = 0.26, HIDES = 0.75;

/** Returns the patterns for a canvas in the given color. A null element stands for no pattern. */
export function patterns(pen: CanvasRenderingContext2D, ink: string): (CanvasPattern | null)[] {
  const stripes = new Path2D(), dots = new Path2D();
  for (const from of [-SIDE, 0, SIDE]) {
    stripes.moveTo(from - 1, -1);
    stripes.lineTo(from + SIDE + 1, SIDE + 1);
  }
  dots.arc(SIDE / 2, SIDE / 2, DOT * SIDE, 0, 2 * Math.PI);
  const scale = window.devicePixelRatio || 1;
  const made = [stripes, dots].map((path, index) => {
    const square = document.createElement("canvas"), one = square.getContext("2d");
    square.width = square.height = Math.round(SIDE * scale);
    if (!one) return null;
    one.scale(square.width / SIDE, square.height / SIDE);
    one.globalAlpha = HIDES;
    one.strokeStyle = one.fillStyle = ink;
    one.lineWidth = STRIPE * SIDE * Math.SQRT1_2;
    if (index) one.fill(path);
    else one.stroke(path);
    const pattern = pen.createPattern(square, "repeat");
    pattern?.setTransform(new DOMMatrix().scale(SIDE / square.width));
    return pattern;
  });
  return [null, ...made];
}

/** Sets the color of a patch in a legend or list. Its pattern is defined in the style sheet. */
export function paint(patch: HTMLElement, { color, pattern }: Shade): void {
  const shade = css(color);
  // Compare the original value, because browsers convert colors to their own format.
  if (patch.dataset.shade === shade && patch.dataset.pattern === String(pattern)) return;
  Object.assign(patch.dataset, { shade, pattern });
  patch.style.backgroundColor = shade;
}
