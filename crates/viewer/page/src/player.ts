// The Play button, which replays the past from the marker or the beginning up to the end of the
// axis.
import { find, write } from "./dom.ts";
import { isStill } from "./theme.ts";
import { lasting } from "./times.ts";

/** The data to replay. */
export interface Film {
  /** Returns the first and the last time, in ms. */
  span(): [number, number];
  /** Returns the displayed time; null means the end. */
  at(): number | null;
  showTime(at: number): void;
  ended(): void;
}

/** The number of playback steps, one per second, for users who prefer reduced motion. */
const STILL_STEPS = 20;

export class Player {
  private timer: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly film: Film) {
    find("play").onclick = () => this.toggle();
    find("seconds").oninput = () => this.explain();
  }

  private seconds(): number {
    const wanted = Number(find<HTMLInputElement>("seconds").value);
    return wanted > 0 ? Math.min(3600, wanted) : 20;
  }

  /** Updates the description of the Play button, including the playback speed. */
  explain(): void {
    const [first, last] = this.film.span();
    const step = (steps: number) => lasting((last - first) / steps / 1000);
    const pace = isStill()
      ? `in ${STILL_STEPS} steps, one per second, each of ${step(STILL_STEPS)}`
      : `1 s shows ${step(this.seconds())}`;
    write("pace", `Play replays events from the marker to the right end: ${pace}.`);
  }

  toggle(): void {
    if (this.timer !== null) return this.stop();
    const [first, last] = this.film.span(), at = this.film.at();
    let time = at === null || at >= last ? first : at;
    const every = isStill() ? 1000 : 50;
    const step = isStill() ? (last - first) / STILL_STEPS : (last - first) / (20 * this.seconds());
    this.film.showTime(time);
    this.timer = setInterval(() => {
      time = Math.min(last, time + step);
      this.film.showTime(time);
      if (time >= last) { this.stop(); this.film.ended(); }
    }, every);
    this.say();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.say();
  }

  private say(): void {
    write("play", this.timer === null ? "▶ Play" : "❚❚ Pause");
  }
}
