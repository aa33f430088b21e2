// Lowers the resolution of a moving picture if frames take too long. Restores it when motion stops.

/** The maximum frame time in ms, and the number of consecutive frames that must exceed it. */
const LONG = 33.4, FRAMES = 3;
/** The time without movement after which the picture is considered at rest, in ms. */
const REST = 250;
const STEP = 0.7, LEAST = 0.5;

export class Sharpness {
  private resting: ReturnType<typeof setTimeout> | undefined;
  private drawn = 1;
  private moving = 1;
  private last = -Infinity;
  private slow = 0;

  /** Creates the control. `change` sets the share of screen pixels to draw along each side. */
  constructor(private readonly change: (share: number) => void) {}

  /** Returns to full resolution and discards all measurements. */
  begin(): void {
    clearTimeout(this.resting);
    this.drawn = this.moving = 1;
    this.last = -Infinity;
    this.slow = 0;
  }

  /** Records that a frame was drawn at time `now`, in ms. */
  frame(now: number): void {
    const took = now - this.last;
    this.last = now;
    if (took < REST) {
      this.slow = took > LONG ? this.slow + 1 : 0;
      if (this.slow === FRAMES) {
        this.slow = 0;
        this.moving = Math.max(LEAST, this.moving * STEP);
      }
      // The resolution found during one movement is reused for the next.
      this.draw(this.moving);
    }
    clearTimeout(this.resting);
    if (this.drawn < 1) this.resting = setTimeout(() => this.draw(1), REST + 50);
  }

  private draw(share: number): void {
    if (share === this.drawn) return;
    this.drawn = share;
    this.change(share);
  }
}
