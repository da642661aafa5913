// Bundles the page: node bundle.mjs OUT [NODE_MODULES]. Writes index.html, app.js and host.json, and page_files.c with them as C arrays.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? "dist");
const modules = resolve(process.argv[3] ?? join(here, "node_modules"));
const { build } = createRequire(join(modules, "here.js"))("esbuild");

mkdirSync(out, { recursive: true });
await build({
  entryPoints: [join(here, "src/main.js")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  legalComments: "inline",
  nodePaths: [modules],
  outfile: join(out, "app.js"),
});
writeFileSync(join(out, "index.html"), readFileSync(join(here, "index.html")));
// The page reads where the solver runs; the folder of `make web` has another file here.
writeFileSync(join(out, "host.json"), '{"worker": ""}\n');

const files = [
  ["/index.html", "text/html; charset=utf-8", "index.html"],
  ["/app.js", "text/javascript; charset=utf-8", "app.js"],
  ["/host.json", "application/json", "host.json"],
];
let text = '#include "view_files.h"\n\n';
files.forEach(([, , name], i) => {
  text += `static const unsigned char file_${i}[] = {\n`;
  const bytes = readFileSync(join(out, name));
  for (let at = 0; at < bytes.length; at += 32) {
    text += [...bytes.subarray(at, at + 32)].join(",") + ",\n";
  }
  text += "};\n\n";
});
text += "const WadiViewFile wadi_view_files[] = {\n";
files.forEach(([path, type], i) => {
  text += `    { "${path}", "${type}", file_${i}, sizeof file_${i} },\n`;
});
text += "};\nconst size_t wadi_view_file_count = sizeof wadi_view_files / sizeof *wadi_view_files;\n";
writeFileSync(join(out, "page_files.c"), text);
