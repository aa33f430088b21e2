// Shows when a waiting request will start, in words and as a bar from earliest to latest.
import type { Scene } from "./columns.ts";
import { many } from "./dom.ts";
import type { Forecast, Told } from "./live.ts";
import type { Waiting } from "./model.ts";
import type { Bar, Column } from "./column.ts";
import { type Clock, short } from "./times.ts";
import { place as boxWords } from "./words.ts";

/** Describes in a few words when a request will start. */
function reach({ earliest, latest, obstacle }: Forecast, now: number): string {
  if (obstacle) return obstacle === "unavailable" ? "lacks nodes" : "> 60 d";
  if (latest !== null && latest <= now) return "overdue";
  const until = (at: number | null) => (at === null ? "> 60 d" : short(at - now));
  const from = earliest !== null && earliest <= now ? "now" : until(earliest), to = until(latest);
  return from === to ? `in ${from}` : `${from} – ${to}`;
}

/** Describes a forecast in full. */
function inWords(one: Forecast, clock: Clock): string {
  const { earliest, median, latest, plan, obstacle, place, calibrated } = one;
  if (obstacle === "unavailable") {
    const fewest = place ? `; ${boxWords(place)} has the fewest of them` : "";
    return `It cannot start until an unavailable node returns${fewest}.`;
  }
  if (obstacle) return "It will not start within 60 days.";
  const [from, half, to, said] = [earliest, median, latest, plan].map((at) =>
    at === null ? "more than 60 days from now" : clock.at(at));
  const such = calibrated ? `Nine out of ten will start between ${from} and ${to}, half by ${half}.`
    : `Probable start (rough estimate): between ${from} and ${to}; median ${half}.`;
  return `${such} If jobs run as long as estimated and no others arrive: ${said}.`;
}

/** Returns the column of start times. All bars share a scale from now to the latest known time. */
export function startsColumn(scene: () => Scene): Column<Waiting> {
  const told = (one: Waiting): Told | undefined => scene().waits.get(one.key);
  const end = () => {
    const { waits, machine } = scene();
    const known = [...waits.values()].flatMap(({ forecast }) =>
      forecast ? [forecast.earliest, forecast.median, forecast.latest] : []);
    return Math.max(machine.now + 1000, ...known.map((at) => at ?? 0));
  };
  // If there is no forecast, the start planned by the scheduler is shown.
  const planned = (one: Waiting) => told(one)?.wait?.planned ?? null;
  const words = (one: Waiting) => {
    const { clock } = scene(), forecast = told(one)?.forecast, plan = planned(one);
    if (forecast) return inWords(forecast, clock);
    return plan === null ? "unknown" : `planned by the scheduler: ${clock.at(plan)}`;
  };
  return {
    id: "starts", title: "Starts in", wide: 19, hint: words, spoken: (one) => `. ${words(one)}`,
    order: (one) => told(one)?.forecast?.median ?? planned(one),
    text(one) {
      const { machine: { now } } = scene(), forecast = told(one)?.forecast, plan = planned(one);
      if (forecast) return reach(forecast, now);
      return plan === null ? "—" : short(plan - now);
    },
    bar(one): Bar | null {
      const { machine: { now } } = scene(), forecast = told(one)?.forecast;
      if (!forecast || forecast.earliest === null) return null;
      const whole = end() - now;
      const share = (at: number | null) =>
        at === null ? 1 : Math.min(1, Math.max(0, (at - now) / whole));
      const { earliest, median, latest } = forecast;
      return { from: share(earliest), to: share(latest), at: share(median) };
    },
  };
}

/** Describes how accurate past forecasts were on this machine. Returns "" if there were none. */
export function promises(waits: Map<unknown, Told>): string {
  const one = [...waits.values()].find(({ forecast }) => forecast)?.forecast;
  if (!one) return "";
  const { kept, broken, calibrated } = one, total = kept + broken;
  if (!total) {
    return "No forecast has been compared with an actual start yet, so the intervals are wide.";
  }
  const share = `${kept.toLocaleString("en")} of ${many(total, "forecast")} held so far`;
  const sum = `${share} (${Math.floor((100 * kept) / total)}%)`;
  return calibrated ? `${sum}.` : `${sum}. These are too few to judge, so the intervals are wide.`;
}
