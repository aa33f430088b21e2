// Answers messages with the module: node engine.mjs MODULE.wasm FOLDER. Each of the files 0, 1, ...
// in the directory contains one message. Prints one reply per line.
import { existsSync, readFileSync } from "node:fs";

const [file, folder] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(file), {});
const { memory, reserve, call, reply } = instance.exports;
const replies = [];
for (let number = 0; existsSync(`${folder}/${number}`); number++) {
  const message = readFileSync(`${folder}/${number}`);
  const at = reserve(message.length) >>> 0;
  new Uint8Array(memory.buffer).set(message, at);
  const length = call() >>> 0;
  replies.push(Buffer.from(memory.buffer, reply() >>> 0, length).toString());
}
process.stdout.write(replies.join("\n"));
