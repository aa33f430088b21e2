// Controls the displayed time: the present, a time in the past, or a time in a schedule.
import { plain, write } from "./dom.ts";
import { clearAnswer } from "./questions.ts";
import { connection, page, schedule } from "./state.ts";
import { changed, draw, player } from "./view.ts";

/** The time to load next, in milliseconds. */
let wanted: number | null = null, isLoading = false;

/** Goes to a time that the user selected, and stops playback. */
export function goTo(instant: number): void {
  player.stop();
  showTime(instant);
}

export function showTime(instant: number): void {
  // For a service, the URL contains times in whole milliseconds.
  const at = schedule ? instant : Math.round(instant);
  page.at = at;
  page.live = false;
  if (schedule) {
    page.machine = schedule.at(at / 1000);
  } else {
    // Answers apply only to the current state.
    clearAnswer();
    wanted = at;
    void loadPast();
  }
  changed();
}

/** Requests the state at the selected time. Times selected during a request may be skipped. */
async function loadPast(): Promise<void> {
  const { source } = connection;
  if (isLoading || !source) return;
  isLoading = true;
  try {
    while (wanted !== null && !page.live) {
      const at = wanted, { name } = source;
      wanted = null;
      const machine = await source.past(at);
      if (page.live) break;
      if (name === source.name) page.machine = machine;
      draw();
    }
  } catch (error) {
    write("status", plain((error as Error).message, 200));
  } finally {
    isLoading = false;
  }
}

/** Discards a time that was selected but has not been loaded yet. */
export function cancelLoading(): void {
  wanted = null;
}

/** Stops playback and, unless the page shows a schedule, goes to the current time. */
export function goLive(): void {
  player.stop();
  if (schedule) return;
  page.live = true;
  page.at = null;
  const { source } = connection;
  if (source?.machine) page.machine = source.machine;
  changed();
}
