// The page: the run on top, views, the list of regions beside the view that is shown.
import { load, type Profile, type Region } from "./data";
import { el, type Child } from "./dom";
import { percent, time } from "./format";
import { lossStack, middle, regionLink, shortName } from "./parts";
import { hash, read, go } from "./state";
import { advice } from "./views/advice";
import { coverage } from "./views/coverage";
import { data } from "./views/data";
import { efficiency } from "./views/efficiency";
import { icicle } from "./views/icicle";
import { messages } from "./views/messages";
import { matches, regions } from "./views/regions";
import { samples } from "./views/samples";
import { source } from "./views/source";
import { summary } from "./views/summary";
import { threads } from "./views/threads";
import { tree } from "./views/tree";
import { whatif } from "./views/whatif";

interface View { key: string; title: string; show: (p: Profile) => Child[]; has?: (p: Profile) => boolean }

const VIEWS: View[] = [
  { key: "summary", title: "Summary", show: summary },
  { key: "advice", title: "Advice", show: advice },
  { key: "efficiency", title: "Efficiency", show: efficiency },
  { key: "regions", title: "Regions", show: regions },
  { key: "tree", title: "Call tree", show: tree },
  { key: "icicle", title: "Icicle", show: icicle },
  { key: "threads", title: "Threads", show: threads },
  { key: "source", title: "Source", show: source },
  { key: "data", title: "Data", show: data, has: (p) => !!p.raw.structures },
  { key: "messages", title: "MPI", show: messages, has: (p) => !!p.raw.mpi },
  { key: "samples", title: "Samples", show: samples, has: (p) => !!p.raw.samples },
  { key: "whatif", title: "What-if", show: whatif },
  { key: "coverage", title: "Coverage", show: coverage },
];

const ROW = 24;

/** Every region, most time first; the list leads to the region in the view that is shown. */
function sidebar(p: Profile): { element: HTMLElement; update: () => void } {
  /* Texts are headings: what stands below them divides by something else. */
  const under = (found: Region[]): (Region | string)[] => {
    const paths = found.findIndex((r) => r.isPath), n = paths < 0 ? found.length : paths;
    return [...(n ? ["Regions: % of thread time", ...found.slice(0, n)] : []), ...(paths < 0 ? [] : ["Functions: % of processor time", ...found.slice(n)])];
  };
  let rows = under(p.listed);
  const list = el("ul", { class: "regions" }), space = el("div", { class: "space" }, list), box = el("div", { class: "scroll" }, space);
  const all = (r: Region) => (r.isPath && p.raw.samples ? percent(r.sampled, p.raw.samples.time) : percent(r.time, p.basis)) + " %";
  const item = (r: Region | string) => typeof r === "string" ? el("li", { class: "group" }, r) : el("li", {}, el("a", { href: hash({ region: r.id }), "aria-current": r.id === read().region ? "true" : null, title: `${r.type} ${r.isPath ? r.name + " " : ""}${r.place}` },
    el("span", { class: "what" }, middle(r.isPath ? shortName(r.name || r.label).replace(/ \(function at (0x[0-9a-f]+)\)$/, " $1") : r.type === "MPI" ? r.name : r.place, 25)), el("span", { class: "kind" }, r.isPath ? `function${r.file ? ` ${middle(`${r.file.slice(r.file.lastIndexOf("/") + 1)}:${r.begin}`, 30)}` : ""}` : `${r.label} ${r.type === "MPI" && r.file ? middle(`${r.file.slice(r.file.lastIndexOf("/") + 1)}:${r.begin}`, 22) : r.brief}`), el("span", { class: "share" }, all(r))));
  const update = () => {
    const tall = 2 * ROW - 8, from = Math.max(0, Math.floor(box.scrollTop / tall) - 5), to = Math.min(rows.length, from + Math.ceil((box.clientHeight || 800) / tall) + 12);
    space.style.height = rows.length * tall + "px";
    list.style.transform = `translateY(${from * tall}px)`;
    list.replaceChildren(...rows.slice(from, to).map(item));
  };
  const input = el("input", { type: "search", placeholder: "Find a region", "aria-label": "Find a region", spellcheck: "false" });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows = under(p.listed.filter((r) => matches(r, words)));
    box.scrollTop = 0;
    update();
  });
  input.addEventListener("keydown", (e) => { if (e.key === "Enter" && rows.length) go({ region: (rows[1] as Region).id }); });
  box.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(box);
  return { element: el("aside", { id: "side", "aria-label": "Regions" }, input, box), update };
}

/** The region that is chosen: what it takes, and where else it is. */
function chosen(p: Profile, r: Region, view: string): HTMLElement {
  const links = VIEWS.filter((v) => ["regions", "tree", "icicle", "threads", "source", "whatif", "advice"].includes(v.key) && v.key !== view);
  return el("div", { class: "chosen", role: "region", "aria-label": "Chosen region" },
    el("span", { class: "place" }, el("b", {}, r.isPath ? "" : r.label + " "), `${r.type} ${r.isPath ? `${shortName(r.name)} ${r.place.replace(/ \('.*$/, "")}` : r.place}`),
    r.nodes ? el("span", {}, `${time(r.time)} (${percent(r.time, p.basis)} %)`) : r.sampled ? el("span", {}, `${time(r.sampled)} of samples`) : "",
    r.lost ? el("span", {}, `lost ${time(r.lost)} `, lossStack(p, r.losses, r.time)) : "",
    el("span", { class: "links" }, ...links.flatMap((v) => [regionLink(r, v.title, v.key), " "]),
      el("a", { class: "close", href: hash({ region: -1 }), "aria-label": "choose none", title: "choose none" }, "\u00d7")));
}

function start(p: Profile): void {
  const side = sidebar(p), nav = el("nav", { "aria-label": "Views" }), strip = el("div", { id: "strip" }), main = el("main", { id: "main", tabindex: -1 });
  const views = VIEWS.filter((v) => !v.has || v.has(p));
  const raw = p.raw, each = raw.rank.length === raw.ranks && raw.rank.every((r) => r.threads === raw.rank[0].threads) ? raw.rank[0].threads : 0;
  const n = raw.mpi && each ? each : raw.slots, ranks = raw.mpi ? `${raw.ranks} rank${raw.ranks === 1 ? "" : "s"}${each ? " x " : ", "}` : "";
  document.title = `${raw.application} \u2013 ompp`;
  const menu = el("button", { type: "button", class: "menu", "aria-controls": "side", "aria-expanded": "false", click: () => menu.setAttribute("aria-expanded", String(document.body.classList.toggle("side"))) }, "Regions");
  document.body.replaceChildren(
    el("a", { class: "skip", href: "#main", click: (e: Event) => { e.preventDefault(); main.focus(); } }, "To the view"),
    el("header", {}, el("h1", {}, raw.application), el("p", {}, `${ranks}${n} thread${n === 1 ? "" : "s"}, ${time(raw.duration)}${raw.end === "final" ? "" : `, ${raw.end}`}`), menu, nav),
    side.element, el("div", { id: "view" }, strip, main));
  let before = "";
  const draw = () => {
    const state = read(), view = views.find((v) => v.key === state.view) ?? views[0], region = p.regions[state.region];
    nav.replaceChildren(...views.map((v) => el("a", { href: hash({ view: v.key }), "aria-current": v === view ? "page" : null }, v.title)));
    strip.replaceChildren(...(region ? [chosen(p, region, view.key)] : []));
    const top = before === view.key ? main.scrollTop : 0;
    main.className = "v-" + view.key;
    main.setAttribute("aria-label", view.title);
    main.replaceChildren(...view.show(p).filter((c): c is Node | string => !!c));
    main.scrollTop = top;
    before = view.key;
    nav.querySelector("[aria-current]")?.scrollIntoView({ inline: "nearest", block: "nearest" });
    document.body.classList.remove("side");
    menu.setAttribute("aria-expanded", "false");
    side.update();
  };
  window.addEventListener("hashchange", draw);
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.target instanceof HTMLInputElement) return;
    e.preventDefault();
    document.querySelector<HTMLInputElement>("#side input")?.focus();
  });
  draw();
}

load().then(start).catch((error) => {
  document.getElementById("loading")?.replaceChildren(typeof DecompressionStream === "undefined" ? "This browser is too old for this page: it has no DecompressionStream." : `The profile in this page cannot be read: ${error}`);
  throw error;
});
