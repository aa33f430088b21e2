// Where the states come from: a service, or a schedule in the page.
import { Machine, grid } from "./model.js";

/** A running service. */
export class Live {
  constructor(tell) {
    this.tell = tell;
    this.token = sessionStorage.getItem("pavior-token");
    this.name = null;
    this.watching = 0;
  }

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

  async series() {
    const { samples } = await this.ask(`/v1/series${this.query({})}`);
    return samples.map((one) => ({ at: Date.parse(one.at), seq: one.seq, busy: one.busy, largest: one.largest_free }));
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

/** A schedule: jobs with submit, start and end, the whole of it in the page. */
export class Schedule {
  constructor(data) {
    this.grid = grid(data.machine);
    this.jobs = data.jobs;
    this.samples = data.samples.map(([at, busy, largest]) => ({ at, busy, largest }));
    this.begins = Math.min(...data.jobs.map((job) => job.submit));
    this.ends = Math.max(...data.jobs.map((job) => job.end));
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
