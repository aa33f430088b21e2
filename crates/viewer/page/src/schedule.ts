// A schedule embedded in the page: jobs with submission, start and end times in seconds.
import type { Series } from "./live.ts";
import { Machine, type Grid, type Key, type Part, type Raw, grid } from "./model.ts";

interface Job {
  job: Key | null;
  submit: number;
  start: number;
  end: number;
  nodes: number;
  parts: Part[];
}

export class Schedule {
  readonly grid: Grid;
  readonly jobs: Job[];
  readonly series: Series;
  /** The times at which the first job is submitted and the last one ends. */
  readonly begins: number;
  readonly ends: number;
  /** True if the largest free box is known after every start and end of a job. */
  readonly isWhole: boolean;

  constructor(data: Raw) {
    const samples: (number | null)[][] = data.samples;
    const points = (place: number) => samples.filter((one) => one[place] !== null)
      .map((one) => ({ at: 1000 * (one[0] as number), value: one[place] as number }));
    this.grid = grid(data.machine);
    this.jobs = data.jobs;
    this.series = { busy: points(1), largest: points(2) };
    this.begins = this.jobs.reduce((least, job) => Math.min(least, job.submit), Infinity);
    this.ends = this.jobs.reduce((most, job) => Math.max(most, job.end), -Infinity);
    this.isWhole = samples.every((one) => one[2] !== null);
    // Before the first job starts, all nodes are free.
    const first = samples[0]?.[0];
    if (!(typeof first === "number" && first <= this.begins)) {
      this.series.busy.unshift({ at: 1000 * this.begins, value: 0 });
      this.series.largest.unshift({ at: 1000 * this.begins, value: this.grid.nodes });
    }
  }

  /** Returns the machine at the given time, including jobs that start at that time but not jobs
   * that end at it. A job's key is its name, plus its index if another job has the same name. */
  at(time: number): Machine {
    const machine = new Machine(this.grid);
    machine.now = time * 1000;
    this.jobs.forEach((job, index) => {
      if (time < job.submit || job.end <= time) return;
      const name = job.job ?? index + 1;
      const isKnown = machine.leases.has(name) || machine.waiting.has(name);
      const id = isKnown ? `${name} (${index + 1})` : name;
      if (job.start <= time) {
        machine.hold({
          id, job: name, parts: job.parts, nodes: job.nodes, requested: job.nodes,
          start: job.start * 1000, expires: job.end * 1000,
        });
      } else {
        machine.wait({ id, job: name, requested: job.nodes, asked: job.submit * 1000 });
      }
    });
    return machine;
  }
}
