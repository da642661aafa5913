// The search of the site, and the contents on narrow screens. The index is fetched when the field is first used.
import MiniSearch from "minisearch";

const up = document.body.dataset.up;
const field = document.getElementById("search"), found = document.getElementById("found");
const menu = document.getElementById("menu");
let search = null;

function load() {
  search ??= fetch(`${up}search.json`).then((answer) => answer.json()).then(({ options, index }) => MiniSearch.loadJS(index, options));
  return search;
}

// The words around the first hit.
function excerpt(text, terms) {
  const plain = text.replace(/\s+/g, " ");
  const lower = plain.toLowerCase();
  const at = Math.max(0, Math.min(...terms.map((term) => lower.indexOf(term)).filter((i) => i >= 0).concat(lower.length)));
  const from = at >= lower.length ? 0 : Math.max(0, at - 50);
  return (from > 0 ? "…" : "") + plain.slice(from, from + 140);
}

async function show() {
  const words = field.value.trim();
  const index = await load();
  if (words !== field.value.trim()) return; // typed on
  const hits = words ? index.search(words, { prefix: true, fuzzy: 0.25, boost: { title: 4, page: 2 }, combineWith: "AND" }).slice(0, 12) : [];
  found.replaceChildren(...hits.map((hit) => {
    const item = document.createElement("li"), link = document.createElement("a");
    const title = document.createElement("b"), text = document.createElement("span");
    link.href = up + hit.address;
    title.textContent = hit.title === hit.page ? hit.title : `${hit.page}: ${hit.title}`;
    text.textContent = excerpt(hit.text, hit.terms);
    link.append(title, text);
    item.append(link);
    return item;
  }));
  if (words && hits.length === 0) {
    const item = document.createElement("li");
    item.textContent = `Nothing about “${words}”.`;
    found.append(item);
  }
  found.hidden = !words;
}

field.addEventListener("focus", load);
field.addEventListener("input", show);
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.click();
});
field.form.addEventListener("click", (event) => event.target.closest("a") && (found.hidden = true));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === "Escape") found.hidden = true;
  const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  if (!found.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    links[Math.max(0, Math.min(links.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)))]?.focus();
  }
});
document.addEventListener("click", (event) => event.target.closest("form") || (found.hidden = true));
menu.onclick = () => menu.setAttribute("aria-expanded", document.body.classList.toggle("open"));
