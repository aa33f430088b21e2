// Builds the page that runs the engine: node try.mjs MODULE.wasm FOLDER. For a web server, writes index.html,
// worker.js and pavior.wasm; also writes a self-contained pavior.html, and figure.js for the strategy pages.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const [module, folder] = process.argv.slice(2);
const bundle = async (entry) => (await build({
  entryPoints: [`try/${entry}.ts`], bundle: true, minify: true, format: "iife", target: "es2022",
  legalComments: "none", write: false,
})).outputFiles[0].text.replaceAll("</script", "<\\/script");
const [script, worker] = [await bundle("main"), await bundle("worker")];
const side = readFileSync("try/side.html", "utf8");
const sides = [0, 1].map((one) => side.replaceAll("{side}", one).replaceAll("{number}", one + 1)).join("");
const style = ["src", "try"].map((from) => readFileSync(`${from}/style.css`, "utf8")).join("");
const policy = (connect) => `default-src 'none'; script-src 'unsafe-inline' 'self' blob: 'wasm-unsafe-eval'; `
  + `worker-src 'self' blob:; style-src 'unsafe-inline'; img-src data:; connect-src ${connect}; form-action 'none'`;
const page = (head, parts, connect) => {
  const all = { "/*POLICY*/": policy(connect), "/*STYLE*/": style, "/*SCRIPT*/": script, "<!--HEAD-->": head,
    "<!--SIDES-->": sides, "<!--PARTS-->": parts };
  return readFileSync("try/index.html", "utf8")
    .replace(/\/\*(POLICY|STYLE|SCRIPT)\*\/|<!--(HEAD|SIDES|PARTS)-->/g, (mark) => all[mark]);
};
const wasm = gzipSync(readFileSync(module), { level: 9 });
const text = (id, content) => `<script type="text/plain" id="${id}">${content}</script>\n`;
mkdirSync(folder, { recursive: true });
// This makes browsers fetch the module while they parse the page.
const early = '<link rel="preload" href="pavior.wasm" as="fetch" crossorigin>\n';
const whole = page("", text("wasm", wasm.toString("base64")) + text("worker", worker), "'none'");
writeFileSync(`${folder}/index.html`, page(early, "", "'self'"));
writeFileSync(`${folder}/worker.js`, worker);
writeFileSync(`${folder}/figure.js`, await bundle("figure"));
writeFileSync(`${folder}/pavior.html`, whole);
writeFileSync(`${folder}/pavior.wasm.gz`, wasm);
copyFileSync(module, `${folder}/pavior.wasm`);
const kib = (bytes) => `${Math.ceil(bytes / 1024)} KiB`;
console.log(`pavior.wasm ${kib(wasm.length)} as gzip, script ${kib(gzipSync(script).length)} as gzip, `
  + `pavior.html ${kib(whole.length)}`);
