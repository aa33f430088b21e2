// Builds dist/viewer.js from src, reproducibly. Its first line contains the digests of its sources and
// of the rest of the file; `cargo test -p pavior-viewer` compares both with the files.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const digest = (...texts) => texts.reduce((hash, text) => hash.update(text), createHash("sha256")).digest("hex");
const scripts = readdirSync("src").filter((name) => name.endsWith(".ts")).sort().map((name) => `src/${name}`);
const sources = [...scripts, "build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
const parts = sources.flatMap((name) => [`${name}\n`, readFileSync(name)]);

const { outputFiles: [{ text }] } = await build({
  entryPoints: ["src/main.ts"], bundle: true, minify: true, format: "iife", target: "es2022",
  legalComments: "none", write: false, outfile: "dist/viewer.js",
});
mkdirSync("dist", { recursive: true });
writeFileSync("dist/viewer.js", `// sources ${digest(...parts)} bundle ${digest(text)}\n${text}`);
