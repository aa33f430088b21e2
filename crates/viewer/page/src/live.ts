// A connection to a running service, which provides the current state and all later events.
import { Machine, type Key, type Part, type Raw } from "./model.ts";
import { millis } from "./times.ts";
import type { Point } from "./thin.ts";

/** Step functions. Each value applies from its time onward. */
export interface Series { busy: Point[]; largest: Point[] }

/** The service's explanation of why a request is waiting. */
export interface Wait { kind: string; sentence: string; by: Raw | null; planned: number | null }

/** A request's predicted start, in ms. Nine out of ten requests start between the earliest and the
 * latest time. A time is null if it is more than 60 days from now. If all times are null, the
 * obstacle is either `horizon` or `unavailable`. With `unavailable`, the place with the fewest
 * unavailable nodes is also given. `kept` and `broken` count past forecasts that held or failed,
 * and `calibrated` is true if there are enough of them to learn from. */
export interface Forecast {
  earliest: number | null;
  median: number | null;
  latest: number | null;
  plan: number | null;
  obstacle: string | null;
  place: Part | null;
  calibrated: boolean;
  kept: number;
  broken: number;
}

/** The explanation for a waiting request. */
export interface Told { wait: Wait | null; forecast: Forecast | null }

export interface Refusal {
  key: number;
  at: number;
  job: Key | null;
  tenant: string | null;
  nodes: number;
  shape: number[] | null;
  reason: string;
  detail: string;
}

/** Callbacks for messages from the service. */
export interface Listener {
  state(machine: Machine, state: Raw): void;
  changed(): void;
  connected(): void;
  trouble(text: string): void;
  /** Asks the user for a token; returns "" if the user enters none. */
  token(): Promise<string>;
}

/** The maximum number of refusals to keep, the same as in the service. */
const REFUSALS = 1024;
const TOKEN = "pavior-token";
/** The events that change reservations. */
const AHEAD = ["reserved", "unreserved"];

export class Live {
  /** The name of the displayed machine, or null for the first one. */
  name: string | null = null;
  machine: Machine | null = null;
  token: string | null = sessionStorage.getItem(TOKEN);
  /** The latest refusals, or null until they have been read. */
  refusals: Refusal[] | null = null;
  private lastRefusal = 0;
  /** True if reservations may have changed since they were last read. */
  isAheadOld = true;
  /** A number that increases with each new watch, used to ignore replies to earlier watches. */
  private turn = 0;
  /** Aborts each watch before the next, because browsers allow few connections per server. */
  private watching = new AbortController();
  /** The number of milliseconds by which the service's clock is ahead of the local clock. */
  private ahead = 0;
  private asksToken: Promise<string> | null = null;

  constructor(private readonly tell: Listener) {}

  /** Returns the time according to the service's clock. */
  now(): number { return Date.now() + this.ahead; }

  private headers(): Record<string, string> {
    return this.token ? { Authorization: `Bearer ${this.token}` } : {};
  }

  private async ask(path: string, body?: unknown): Promise<Raw> {
    const own = this.token;
    const headers = this.headers();
    const reply = await fetch(path, body === undefined ? { headers } : {
      method: "POST", headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    // Even if several requests are rejected at the same time, the user is asked only once.
    const isUnknown = reply.status === 401;
    if (isUnknown && (own !== this.token || await this.enter())) return this.ask(path, body);
    const json = await reply.json();
    if (!reply.ok && reply.status !== 409) throw new Error(json.detail ?? reply.statusText);
    return json;
  }

  /** Asks the user for a token. Returns true if one was entered. */
  private async enter(): Promise<boolean> {
    this.asksToken ??= this.tell.token();
    const token = await this.asksToken;
    this.asksToken = null;
    if (!token) return false;
    this.token = token;
    sessionStorage.setItem(TOKEN, token);
    return true;
  }

  private query(more: Record<string, string | number | null> = {}): string {
    const words = Object.entries({ machine: this.name, ...more });
    const given = words.filter(([, value]) => value !== null);
    const texts = given.map(([name, value]) => [name, String(value)]);
    return texts.length ? `?${new URLSearchParams(texts)}` : "";
  }

  /** Reads the current state, then applies every later event. */
  async begin(): Promise<void> {
    const turn = ++this.turn;
    this.watching.abort();
    this.watching = new AbortController();
    this.refusals = null;
    this.lastRefusal = 0;
    this.isAheadOld = true;
    for (let wait = 250; turn === this.turn; wait = Math.min(wait * 2, 5000)) {
      try {
        const state = await this.ask(`/v1/state${this.query()}`);
        if (turn !== this.turn) return;
        this.take(state);
        wait = 250;
        await this.watch(turn);
      } catch (error) {
        if (turn !== this.turn) return;
        this.tell.trouble((error as Error).message);
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  private take(state: Raw): void {
    this.name = state.name;
    this.machine = Machine.of(state);
    this.tell.state(this.machine, state);
  }

  private async watch(turn: number): Promise<void> {
    const machine = this.machine as Machine, { signal } = this.watching;
    const headers = this.headers();
    const reply = await fetch(`/v1/watch?after=${machine.seq}`, { headers, signal });
    if (!reply.ok || !reply.body) throw new Error("the service refused to send events");
    this.tell.connected();
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error("the service closed the connection");
      if (turn !== this.turn) return void reader.cancel();
      text += value;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) this.event(event);
      if (events.length) this.tell.changed();
    }
  }

  private event(text: string): void {
    const field = (name: string) =>
      text.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const kind = field("event"), data = field("data");
    if (kind && AHEAD.includes(kind)) this.isAheadOld = true;
    if (kind && data) this.machine?.apply(kind, JSON.parse(data), this.name);
  }

  /** Returns the data for the chart, or null if another machine was selected in the meantime. */
  async series(): Promise<Series | null> {
    const { turn } = this;
    const { samples, now } = await this.ask(`/v1/series${this.query()}`);
    if (turn !== this.turn) return null;
    this.ahead = (millis(now) ?? Date.now()) - Date.now();
    return { busy: stretches(samples, "busy"), largest: stretches(samples, "largest_free") };
  }

  /** Reads the refusals since the last call. Returns true if there are any. */
  async lookForRefusals(): Promise<boolean> {
    const turn = this.turn;
    const query = this.query({ after: this.lastRefusal });
    const { refusals, last } = await this.ask(`/v1/refusals${query}`);
    if (turn !== this.turn) return false;
    // Refusal numbers start over when the service restarts.
    const before = last < this.lastRefusal ? [] : this.refusals ?? [];
    this.lastRefusal = last;
    const found = refusals.map((one: Raw): Refusal => ({
      key: one.id, at: millis(one.at) ?? 0, job: one.job ?? null, tenant: one.tenant ?? null,
      nodes: one.nodes, shape: one.shape ?? null, reason: one.reason, detail: one.detail,
    }));
    this.refusals = [...before, ...found].slice(-REFUSALS);
    return found.length > 0;
  }

  /** Returns the reasons why the oldest requests are waiting, and their predicted starts. Also
   * rereads the state if the service has advanced, because a user who may not see every lease does
   * not receive every event. */
  async queue(limit: number): Promise<Map<Key, Told>> {
    const { seq, waiting } = await this.ask(`/v1/queue${this.query({ limit })}`);
    if (this.machine && seq > this.machine.seq) {
      const state = await this.ask(`/v1/state${this.query()}`);
      if (state.name === this.name && state.seq >= this.machine.seq) this.take(state);
    }
    return new Map(waiting.map((one: Raw): [Key, Told] =>
      [one.id, { wait: waitOf(one.waits_for), forecast: forecastOf(one.forecast) }]));
  }

  /** Returns the machine's reservations, in order of number. */
  async reservations(): Promise<Raw[]> {
    const { turn, name } = this;
    const { reservations } = await this.ask(`/v1/reservations${this.query()}`);
    return turn === this.turn ? reservations.filter((one: Raw) => one.machine === name) : [];
  }

  /** Returns the machine as it was at a given time in milliseconds. */
  async past(at: number): Promise<Machine> {
    const machine = Machine.of(await this.ask(`/v1/state${this.query({ at_ms: Math.floor(at) })}`));
    machine.now = at;
    return machine;
  }

  explain(asked: Raw): Promise<Raw> {
    return this.ask("/v1/explain", { ...asked, machine: this.name });
  }

  slots(shape: string, moves: number): Promise<Raw> {
    return this.ask(`/v1/slots${this.query({ shape, moves: moves || null })}`);
  }
}

function waitOf(said: Raw | null | undefined): Wait | null {
  if (!said) return null;
  const { kind, sentence, by, planned } = said;
  return { kind, sentence, by: by ?? null, planned: millis(planned) };
}

function forecastOf(said: Raw | null | undefined): Forecast | null {
  if (!said) return null;
  const [earliest, median, latest, plan] =
    [said.earliest, said.median, said.latest, said.plan].map(millis);
  const { obstacle, place, calibrated, kept, broken } = said;
  return { earliest, median, latest, plan, obstacle, place, calibrated, kept, broken };
}

/** Returns a step function's points: the minimum, maximum and last value in each interval. */
function stretches(samples: Raw[], name: string): Point[] {
  const points: Point[] = [];
  for (const one of samples) {
    const last = one[name];
    const least = one[`${name}_least`] ?? last, most = one[`${name}_most`] ?? last;
    const at = millis(one.at);
    if (last === null || last === undefined || at === null) continue;
    const varies = least !== last || most !== last;
    if (varies) points.push({ at, value: least }, { at, value: most });
    points.push({ at: varies ? millis(one.until) ?? at : at, value: last });
  }
  return points;
}
