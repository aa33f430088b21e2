// How many points a picture has while it moves: fewer where frames take long, all of them when it
// rests.

/** The longest time for a frame in ms, and how many in a row must take longer. */
const LONG = 33.4, FRAMES = 3;
/** After what time it rests, in ms. */
const REST = 250;
const STEP = 0.7, LEAST = 0.5;

export class Sharpness {
  private resting: ReturnType<typeof setTimeout> | undefined;
  private drawn = 1;
  private moving = 1;
  private last = -Infinity;
  private slow = 0;

  /** `change` is called with the share of the screen's points along each side that is drawn. */
  constructor(private readonly change: (share: number) => void) {}

  /** All points, and nothing known of how long frames take. */
  begin(): void {
    clearTimeout(this.resting);
    this.drawn = this.moving = 1;
    this.last = -Infinity;
    this.slow = 0;
  }

  /** Takes note that a frame is drawn at a time in ms. */
  frame(now: number): void {
    const took = now - this.last;
    this.last = now;
    if (took < REST) {
      this.slow = took > LONG ? this.slow + 1 : 0;
      if (this.slow === FRAMES) {
        this.slow = 0;
        this.moving = Math.max(LEAST, this.moving * STEP);
      }
      // What was found in one movement holds for the next.
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
