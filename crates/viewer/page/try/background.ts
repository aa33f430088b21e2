// Connects the page to a worker, which runs one cancelable task at a time.
import { worker } from "./engine.ts";
import type { Report, Task } from "./worker.ts";

export class Background {
  private worker: Worker | null = null;
  private refuse: ((reason: Error) => void) | null = null;

  constructor(private readonly module: WebAssembly.Module) {}

  /** Runs a task, canceling any task that is still running. */
  run<T>(task: Task, progress: (share: number) => void = () => {}): Promise<T> {
    if (this.refuse) this.cancel();
    this.worker ??= this.begin();
    const { worker } = this;
    return new Promise((resolve, reject) => {
      const end = () => { this.refuse = worker.onmessage = worker.onerror = null; };
      this.refuse = reject;
      worker.onmessage = ({ data }: MessageEvent<Report>) => {
        if ("share" in data) return progress(data.share);
        end();
        if ("error" in data) reject(new Error(data.error));
        else resolve(data.result as T);
      };
      worker.onerror = ({ message }) => { end(); this.drop(); reject(new Error(message)); };
      worker.postMessage(task);
    });
  }

  private begin(): Worker {
    const made = worker();
    made.postMessage(this.module);
    return made;
  }

  private drop(): void {
    this.worker?.terminate();
    this.worker = null;
  }

  /** Terminates the task and its worker, so the worker's state is lost. */
  cancel(): void {
    const { refuse } = this;
    this.drop();
    this.refuse = null;
    refuse?.(new Error("Canceled."));
  }
}
