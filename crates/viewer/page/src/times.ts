// Converts and formats times.

/** A time as a number of milliseconds, or as RFC 3339 text. */
export type Time = number | string;

/** Returns the milliseconds since the Unix epoch, or null if `time` is invalid. */
export function millis(time: unknown): number | null {
  if (time === null || time === undefined) return null;
  const ms = typeof time === "number" ? time : Date.parse(String(time));
  return Number.isFinite(ms) ? ms : null;
}

/** Converts times in a sentence from the service to local time. */
export const local = (sentence: string): string =>
  sentence.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => wall.at(Date.parse(time)));

const UNITS: [number, string][] =
  [[31557600, "y"], [86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** Formats a duration in its largest units, such as `2 h 5 min`. */
export function lasting(seconds: number, units = 2): string {
  let rest = Math.max(0, Math.round(Math.abs(seconds)));
  if (rest === 0) return "0 s";
  const first = UNITS.findIndex(([unit]) => rest >= unit);
  const words: string[] = [];
  for (const [unit, name] of UNITS.slice(first, first + units)) {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    if (count) words.push(`${count} ${name}`);
  }
  return words.join(" ");
}

/** Formats a duration in its largest unit, with one decimal place for values below 10. */
export function short(ms: number): string {
  const seconds = Math.max(0, ms / 1000);
  for (const [unit, name] of [[31557600, "y"], [86400, "d"], [3600, "h"], [60, "m"]] as const) {
    if (seconds < unit) continue;
    const count = seconds / unit, isPrecise = count < 10 && unit > 60;
    // Rounding down ensures that only complete units count.
    const shown = isPrecise ? (Math.floor(10 * count) / 10).toFixed(1) : Math.floor(count);
    return `${shown} ${name}`;
  }
  return `${Math.floor(seconds)} s`;
}

/** A format for times: clock times, or times since the beginning of a schedule. */
export interface Clock {
  /** Formats a time in milliseconds with the required precision. */
  at(ms: number): string;
  /** Formats a time as an axis label, given the step between labels. */
  tick(ms: number, step: number): string;
  /** Returns the offset to add to a time so that days and hours begin at multiples of their length.
   */
  offset(ms: number): number;
}

const two = (number: number): string => String(number).padStart(2, "0");
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const day = (date: Date): string => `${date.getDate()} ${MONTHS[date.getMonth()]}`;
const clock = (date: Date, seconds: boolean): string =>
  `${two(date.getHours())}:${two(date.getMinutes())}${seconds ? `:${two(date.getSeconds())}` : ""}`;

/** The user's clock. */
export const wall: Clock = {
  at: (ms) => `${day(new Date(ms))} ${clock(new Date(ms), true)}`,
  tick(ms, step) {
    const date = new Date(ms);
    if (step >= 86_400_000) return day(date);
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
    return isMidnight ? day(date) : clock(date, step < 60_000);
  },
  offset: (ms) => -60_000 * new Date(ms).getTimezoneOffset(),
};

/** The clock of a schedule, which begins at 0. */
export const elapsed: Clock = {
  at: (ms) => (ms < 0 ? `−${lasting(ms / 1000)}` : lasting(ms / 1000)),
  tick: (ms) => (ms === 0 ? "0" : elapsed.at(ms)),
  offset: () => 0,
};

const SECONDS = [
  1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
  172800, 604800, 1209600, 2592000,
];

/** Returns at most `most` evenly spaced times between two given times. */
export function ticks(
  first: number, last: number, most: number, clock: Clock,
): { at: number; text: string }[] {
  const wanted = (last - first) / Math.max(1, most) / 1000;
  let step = SECONDS.find((one) => one >= wanted) ?? 2592000;
  while (step < wanted) step *= 2;
  const ms = 1000 * step, found = [];
  const offset = clock.offset(last);
  for (let at = Math.ceil((first + offset) / ms) * ms - offset; at <= last; at += ms)
    found.push({ at, text: clock.tick(at, ms) });
  return found;
}
