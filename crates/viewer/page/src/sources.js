// Where the states come from: a service, or a schedule in the page.
import { Machine, grid } from "./model.js";
import { millis, timeOf } from "./times.js";

/** A running service. */
export class Live {
  constructor(tell) {
    this.tell = tell;
    this.token = sessionStorage.getItem("pavior-token");
    this.name = null;
    this.watching = 0;
    // How far the service's clock is before this one, in ms.
    this.ahead = 0;
  }

  /** The time of the service's clock. */
  now() { return Date.now() + this.ahead; }

  async ask(path, body) {
    const headers = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    const options = body === undefined ? { headers } : { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const reply = await fetch(path, options);
    if (reply.status === 401) {
      const token = await this.tell.token();
      if (token) {
        this.token = token;
        sessionStorage.setItem("pavior-token", token);
        return this.ask(path, body);
      }
    }
    const json = await reply.json();
    if (!reply.ok && reply.status !== 409) throw new Error(json.detail ?? reply.statusText);
    return json;
  }

  query(more) {
    const words = Object.entries({ machine: this.name, ...more }).filter(([, value]) => value !== null && value !== undefined);
    return words.length ? `?${new URLSearchParams(words)}` : "";
  }

  /** The state now, and from then on every event. */
  async begin() {
    const turn = ++this.watching;
    for (let wait = 250; turn === this.watching; wait = Math.min(wait * 2, 5000)) {
      try {
        const state = await this.ask(`/v1/state${this.query({})}`);
        this.name = state.name;
        this.machine = Machine.of(state);
        this.tell.state(this.machine, state);
        wait = 250;
        await this.watch(turn);
      } catch (error) {
        this.tell.trouble(error.message);
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  async watch(turn) {
    const headers = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    const reply = await fetch(`/v1/watch?after=${this.machine.seq}`, { headers });
    if (!reply.ok) throw new Error("the watch was refused");
    this.tell.connected();
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error("the service has closed the connection");
      if (turn !== this.watching) return void reader.cancel();
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) {
        const field = (name) => event.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const kind = field("event");
        if (kind) this.machine.apply(kind, JSON.parse(field("data")), this.name);
      }
      if (events.length) this.tell.changed();
    }
  }

  /** What is drawn over time. */
  async series() {
    const { samples, now } = await this.ask(`/v1/series${this.query({})}`);
    this.ahead = (millis(now) ?? Date.now()) - Date.now();
    return { busy: stretches(samples, "busy"), largest: stretches(samples, "largest_free") };
  }

  /**
   * What the oldest requests wait for. A reader that may not see every lease is told nothing when one of
   * them changes: the state is read anew where the service is at another record.
   */
  async queue(limit) {
    const { seq, waiting } = await this.ask(`/v1/queue${this.query({ limit })}`);
    if (seq > this.machine.seq) {
      const state = await this.ask(`/v1/state${this.query({})}`);
      if (state.name === this.name && state.seq >= this.machine.seq) {
        this.machine = Machine.of(state);
        this.tell.state(this.machine, state);
      }
    }
    return waiting;
  }

  /** The machine at an instant, in milliseconds. */
  async past(time) {
    const machine = Machine.of(await this.ask(`/v1/state${this.query({ at_ms: Math.floor(time) })}`));
    machine.now = time;
    return machine;
  }

  explain(asked) { return this.ask("/v1/explain", { ...asked, machine: this.name }); }
  unblock(asked) { return this.ask("/v1/unblock", { ...asked, machine: this.name }); }
}

/** The values of a number as points of a step function: least, greatest and last of each stretch of time. */
function stretches(samples, name) {
  const points = [];
  for (const one of samples) {
    const last = one[name], least = one[`${name}_least`] ?? last, most = one[`${name}_most`] ?? last;
    if (last === null || last === undefined) continue;
    const at = timeOf(one, "at");
    if (least !== last || most !== last) points.push({ at, value: least }, { at, value: most });
    points.push({ at: least !== last || most !== last ? timeOf(one, "until") ?? at : at, value: last });
  }
  return points;
}

/** A schedule: jobs with submit, start and end, the whole of it in the page. */
export class Schedule {
  constructor(data) {
    this.grid = grid(data.machine);
    this.jobs = data.jobs;
    const points = (place) => data.samples.filter((one) => one[place] !== null).map((one) => ({ at: 1000 * one[0], value: one[place] }));
    this.series = { busy: points(1), largest: points(2) };
    this.begins = data.jobs.reduce((least, job) => Math.min(least, job.submit), Infinity);
    // Before the first start nothing is held.
    if (!(data.samples[0]?.[0] <= this.begins)) {
      this.series.busy.unshift({ at: 1000 * this.begins, value: 0 });
      this.series.largest.unshift({ at: 1000 * this.begins, value: this.grid.nodes });
    }
    /** Whether the largest free box was looked for after every start and end. */
    this.isWhole = data.samples.every((one) => one[2] !== null);
    this.ends = data.jobs.reduce((most, job) => Math.max(most, job.end), -Infinity);
  }

  /** The machine at an instant: jobs that end then have gone, jobs that start then are there. */
  at(time) {
    const machine = new Machine(this.grid);
    machine.now = time * 1000;
    for (const job of this.jobs) {
      if (job.start <= time && time < job.end) {
        machine.hold({ id: job.job, job: job.job, parts: job.parts, nodes: job.nodes, start_ms: job.start * 1000, expires_ms: job.end * 1000 });
      } else if (job.submit <= time && time < job.start) {
        machine.waiting.set(job.job, { id: job.job, job: job.job, requested: job.nodes, asked_ms: job.submit * 1000 });
      }
    }
    return machine;
  }
}
