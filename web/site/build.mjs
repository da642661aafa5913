// Makes the site: node build.mjs ROOT OUT NODE_MODULES [PLAY]. Every Markdown page of the tree becomes a page of the site at the same
// path; pictures and text files that pages name come along; PLAY, the folder of `make web`, becomes play/. A link that leads nowhere
// ends the build.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, posix, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { groups } from "./contents.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [root, out, modules, play] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, "here.js"));
const { build } = require("esbuild");
const MarkdownIt = require("markdown-it");
const { default: GithubSlugger } = await import(pathToFileURL(join(modules, "github-slugger/index.js")));
const MiniSearch = require("minisearch");

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
const TEXT = /(\.(yaml|c|h|py|sh|json|mjs|js|txt|cff|yml)|LICENSE|Makefile)$/;

function markdownFiles(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? markdownFiles(path) : entry.name.endsWith(".md") ? [path] : [];
  });
}

const pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", ...markdownFiles("docs")];
const addressOf = (path) => (path === "README.md" ? "index.html" : path.replace(/(README)?\.md$/, (_, readme) => (readme ? "index.html" : ".html")));
const problems = [];
const copied = new Set(); // files that pages name
const anchors = new Map(); // page: set of ids
const wanted = []; // [page, page that is linked, anchor]
const sections = []; // what is searched

// Of a link in a page: its address in the site, or a problem.
function follow(page, target) {
  if (/^[a-z]+:/.test(target)) return target;
  const [path, anchor] = target.split("#");
  const file = path ? posix.normalize(posix.join(posix.dirname(page), decodeURI(path))).replace(/\/$/, "") : page;
  const up = "../".repeat(page.split("/").length - 1);
  if (pages.includes(file)) {
    if (anchor) wanted.push([page, file, anchor]);
    return (path ? up + addressOf(file) : "") + (anchor ? `#${anchor}` : "");
  }
  if (file.startsWith("..") || !existsSync(join(root, file))) {
    problems.push(`${page}: ${target} leads nowhere`);
    return target;
  }
  copied.add(file);
  const isFolder = statSync(join(root, file)).isDirectory();
  return up + (isFolder ? `${file}/index.html` : TEXT.test(file) ? `${file}.html` : file);
}

const markdown = new MarkdownIt({ html: false, linkify: true });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

function render(page) {
  const slugger = new GithubSlugger();
  const ids = new Set();
  anchors.set(page, ids);
  const tokens = markdown.parse(readFileSync(join(root, page), "utf8"), {});
  let title = "", section = null;
  tokens.forEach((token, i) => {
    if (token.type === "heading_open") {
      const text = tokens[i + 1].children.map((child) => child.content).join("");
      const id = slugger.slug(text);
      ids.add(id);
      token.attrSet("id", id);
      title ||= text;
      section = { id: sections.length, title: text, page: title, address: `${addressOf(page)}#${id}`, text: "" };
      sections.push(section);
    } else if (token.type === "inline") {
      for (const child of token.children) {
        if (child.type === "link_open") child.attrSet("href", follow(page, child.attrGet("href")));
        if (child.type === "image") child.attrSet("src", follow(page, child.attrGet("src")));
        if (child.type === "image") child.attrSet("loading", "lazy");
      }
      if (section && tokens[i - 1]?.type !== "heading_open") {
        section.text += token.children.map((child) => (child.type === "softbreak" ? " " : child.content)).join("") + "\n";
      }
    } else if (token.type === "fence" && section) {
      section.text += token.content;
    }
  });
  // Tables made by a tool have no heading: their name, as a title.
  title ||= page.replace(/^.*\//, "").replace(/\.md$/, "").replace(/^./, (first) => first.toUpperCase());
  return { title, body: markdown.renderer.render(tokens, markdown.options, {}) };
}

const rendered = new Map(pages.map((page) => [page, render(page)]));
for (const [page, file, anchor] of wanted) {
  if (!anchors.get(file).has(anchor)) problems.push(`${page}: ${file}#${anchor} leads nowhere`);
}

// The steps of the tutorial that the solver inside the page knows (web/inside/CMakeLists.txt) run there.
if (play) {
  const known = readFileSync(join(here, "../inside/CMakeLists.txt"), "utf8").match(/set\(TUTORIAL ([^)]+)\)/)[1].split(" ");
  const tutorial = rendered.get("docs/tutorial.md");
  tutorial.body = tutorial.body.replace(/<h2 id="(\d)-[^]*?<\/h2>/g, (heading, number) => {
    const name = known.find((one) => one.startsWith(`${number}-`));
    return heading + (name ? `\n<p class="try"><a href="../play/index.html?scene=tutorial-${name}">Run this step in the browser</a></p>` : "");
  });
}

const listed = new Set(groups.flatMap(([, names]) => names));
for (const name of listed) if (name !== "play" && !pages.includes(name)) problems.push(`contents.mjs: ${name} is not there`);
const others = pages.filter((page) => !listed.has(page));

function navigation(current, up) {
  const shown = others.length ? [...groups, ["More", others]] : groups;
  return shown.map(([heading, names]) => `<h2>${heading}</h2>\n<ul>` + names.map((name) => {
    if (name === "play") return play ? `<li><a href="${up}play/index.html">Try it in this browser</a></li>` : "";
    const title = name === "README.md" ? "wadi" : rendered.get(name).title;
    const mark = name === current ? ' aria-current="page"' : "";
    return `<li><a href="${up}${addressOf(name)}"${mark}>${escape(title)}</a></li>`;
  }).join("") + "</ul>").join("\n");
}

function write(address, title, body, current) {
  const up = "../".repeat(address.split("/").length - 1);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}${title === "wadi" ? "" : " – wadi"}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}site.css">
</head>
<body data-up="${up}">
<header>
<a class="name" href="${up}index.html">wadi</a>
<button id="menu" aria-expanded="false" aria-controls="contents">Contents</button>
<form role="search"><input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off">
<ol id="found" hidden></ol></form>
</header>
<nav id="contents" aria-label="Pages">
${navigation(current, up)}
</nav>
<main>
${body}
</main>
<script src="${up}site.js"></script>
</body>
</html>
`;
  mkdirSync(dirname(join(out, address)), { recursive: true });
  writeFileSync(join(out, address), html);
}

function writeText(file) {
  const text = readFileSync(join(root, file), "utf8");
  write(`${file}.html`, basename(file), `<h1>${escape(file)}</h1>\n<pre><code>${escape(text)}</code></pre>`, null);
}

// A folder is a list of its text files, with the shorter ones in full.
function writeFolder(folder) {
  const names = readdirSync(join(root, folder)).filter((name) => TEXT.test(name));
  const parts = names.map((name) => {
    const text = readFileSync(join(root, folder, name), "utf8");
    return `<h2>${escape(name)}</h2>\n<pre><code>${escape(text.slice(0, 20000))}</code></pre>`;
  });
  write(`${folder}/index.html`, folder, `<h1>${escape(folder)}</h1>\n${parts.join("\n") || "<p>See the source.</p>"}`, null);
}

if (problems.length) {
  console.error(problems.join("\n"));
  process.exit(1);
}
rmSync(out, { recursive: true, force: true });
for (const page of pages) write(addressOf(page), rendered.get(page).title, rendered.get(page).body, page);
for (const file of copied) {
  if (statSync(join(root, file)).isDirectory()) writeFolder(file);
  else if (TEXT.test(file)) writeText(file);
  else cpSync(join(root, file), join(out, file), { recursive: true });
}
const options = { fields: ["title", "page", "text"], storeFields: ["title", "page", "address", "text"] };
const search = new MiniSearch(options);
search.addAll(sections);
writeFileSync(join(out, "search.json"), JSON.stringify({ options, index: search }));
cpSync(join(here, "site.css"), join(out, "site.css"));
await build({ entryPoints: [join(here, "site.js")], bundle: true, minify: true, format: "iife", target: "es2020", legalComments: "inline",
              nodePaths: [modules], outfile: join(out, "site.js") });
if (play) cpSync(play, join(out, "play"), { recursive: true });
if (play && existsSync(join(play, "_headers"))) {
  writeFileSync(join(out, "_headers"), readFileSync(join(play, "_headers"), "utf8").replace("/*", "/play/*"));
}
console.log(`${pages.length} pages, ${sections.length} sections${play ? ", the solver in play/" : ""}: ${out}`);
