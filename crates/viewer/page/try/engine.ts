// Loads and calls the engine, a WebAssembly module that answers commands in JSON.

/** A command, named by its `do` property. */
export type Command = { do: string } & Record<string, unknown>;

/** The module's functions and memory. Addresses are unsigned. */
interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  call(): number;
  reply(): number;
}

/** The reason a command failed, and the setting at fault. */
export class Fault extends Error {
  constructor(reason: string, readonly setting: string | null) { super(reason); }
}

export class Engine {
  private constructor(private readonly exports: Exports) {}

  static async start(module: WebAssembly.Module): Promise<Engine> {
    const { exports } = await WebAssembly.instantiate(module, {});
    return new Engine(exports as unknown as Exports);
  }

  /** Executes a command. If the command reads a log, `bytes` contains the log. */
  ask<T>(command: Command, bytes?: Uint8Array): T {
    const { memory, reserve, call, reply } = this.exports;
    const line = new TextEncoder().encode(`${JSON.stringify(command)}\n`);
    const from = reserve(line.length + (bytes?.length ?? 0)) >>> 0;
    const room = new Uint8Array(memory.buffer);
    room.set(line, from);
    if (bytes) room.set(bytes, from + line.length);
    const length = call() >>> 0, at = reply() >>> 0;
    const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, at, length)));
    if (typeof answer.error === "string") throw new Fault(answer.error, answer.setting ?? null);
    return answer;
  }
}

/** Returns the text of an embedded element, if the page is self-contained. */
const embedded = (id: string): string | null => document.getElementById(id)?.textContent ?? null;

/** Compiles the module. If the server sends the right content type, compilation begins during the
 * download. */
async function compiled(reply: Response): Promise<WebAssembly.Module> {
  if (!reply.ok) throw new Error(`pavior.wasm: status ${reply.status}`);
  return reply.headers.get("content-type")?.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(reply) : WebAssembly.compile(await reply.arrayBuffer());
}

/** Loads the module from the page if it is embedded, otherwise from a file. */
export async function load(file = "pavior.wasm"): Promise<WebAssembly.Module> {
  const text = embedded("wasm");
  if (text === null) return compiled(await fetch(file));
  const letters = atob(text), packed = new Uint8Array(letters.length);
  for (let at = 0; at < packed.length; at++) packed[at] = letters.charCodeAt(at);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** Starts the worker script, which runs long computations in the background. */
export function worker(): Worker {
  const text = embedded("worker");
  if (text === null) return new Worker("worker.js");
  return new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}
