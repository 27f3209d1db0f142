import type { Column, Profile } from "../data";
import { canvas, colour, el, type Child } from "../dom";
import { digitsFor, everyMark, largest, smallest, value, words } from "../format";
import { heading, note, select } from "../parts";
import { table, type TableColumn } from "../table";
import { go, read } from "../state";

const CELL = 22, LABEL = 70;

const mix = (a: string, b: string, t: number): string => `color-mix(in srgb, ${b} ${Math.round(100 * t)}%, ${a})`;

export function shades(): string[] {
  const low = colour("heat-0"), high = colour("heat-1");
  return Array.from({ length: 33 }, (_, i) => mix(low, high, i / 32));
}

function picture(p: Profile, c: Column, rows: number[]): Child[] {
  const places = rows.map((i) => p.raw.locations[i]), threads = largest(places.map(([, t]) => t)) + 1, ranks = [...new Set(places.map(([r]) => r))];
  const values = rows.map((i) => c.rows?.[i] ?? 0), most = largest(values);
  const rankRow = new Map(ranks.map((r, i) => [r, i]));
  const says = el("p", { class: "says", "aria-live": "polite" });
  const floor = read().q === "least" ? smallest(values) : 0;
  let side = 1, size = CELL, focus = values.indexOf(most);
  /* Many ranks with few threads stand side by side. */
  const arrange = (width: number) => {
    const room = Math.max(100, width - LABEL);
    size = Math.max(4, Math.min(ranks.length * threads < 65 ? 44 : CELL, Math.floor(room / Math.max(threads, 1))));
    if (ranks.length > 32 && threads <= 8) size = Math.min(size, 14);
    side = ranks.length > 16 ? Math.max(1, Math.min(ranks.length, Math.floor(room / (threads * size + (threads > 1 ? 3 : 0))))) : 1;
    /* Rows of the same length, or of a round number of ranks. */
    const even = Array.from({ length: side }, (_, i) => side - i).find((n) => 2 * n > side && ranks.length % n === 0);
    side = even ?? (side > 10 ? side - (side % 10) : side);
    if (side > 1) size = Math.min(CELL, Math.floor((room / side - (threads > 1 ? 3 : 0)) / threads));
  };
  const place = (k: number) => {
    const row = rankRow.get(places[k][0])!, gap = side > 1 && threads > 1 ? 3 : 0;
    return { x: LABEL + (row % side) * (threads * size + gap) + places[k][1] * size, y: 16 + Math.floor(row / side) * size };
  };
  const tell = (k: number) => {
    if (k < 0) return;
    const [rank, tid, kind] = places[k];
    says.replaceChildren(el("b", {}, `${p.raw.mpi ? `rank ${rank}, ` : ""}thread ${tid}`), `${kind === "nested" || kind === "own" ? ` (${kind === "own" ? "of the program's own" : "nested team"})` : ""}: ${c.title} ${words(values[k], c.unit)}`);
  };
  const map = canvas(() => { arrange(map.box.clientWidth); return 16 + Math.ceil(ranks.length / side) * size + 2; }, (ctx) => {
    const scale = shades(), ink = colour("muted"), mark = colour("ink");
    ctx.fillStyle = ink;
    ctx.fillText(p.raw.mpi ? "rank" : "", 0, 12);
    if (side === 1) for (let t = 0; t < threads; t += Math.max(1, Math.ceil(26 / size))) ctx.fillText(String(t), LABEL + t * size + 2, 12);
    const wide = threads * size + (threads > 1 ? 3 : 0);
    if (side > 1) for (let i = 0; i < side; i += everyMark(30 / wide)) ctx.fillText(ranks.length > side ? "+" + i : String(ranks[i]), LABEL + i * wide, 12);
    for (let i = 0; i < ranks.length; i += side) if (size >= 11 || (i / side) % Math.ceil(12 / size) === 0) ctx.fillText(p.raw.mpi ? String(ranks[i]) : "threads", 0, 16 + (i / side) * size + Math.min(size - 2, size / 2 + 5));
    values.forEach((v, k) => {
      const { x, y } = place(k);
      ctx.fillStyle = scale[most > floor ? Math.round((32 * (v - floor)) / (most - floor)) : 0];
      ctx.fillRect(x, y, size - 1, size - 1);
    });
    if (focus >= 0) {
      const { x, y } = place(focus);
      ctx.strokeStyle = mark;
      ctx.lineWidth = 2;
      ctx.strokeRect(x - 0.5, y - 0.5, size, size);
    }
  }, { role: "img", "aria-label": `Heat map of ${c.title} by rank and thread; the table below has the same. Arrow keys go from thread to thread.` });
  const at = (e: MouseEvent) => {
    const box = map.element.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
    return values.findIndex((_, k) => { const { x, y } = place(k); return px >= x && px < x + size && py >= y && py < y + size; });
  };
  map.element.addEventListener("mousemove", (e) => { const k = at(e); tell(k >= 0 ? k : focus); });
  map.element.addEventListener("mouseleave", () => tell(focus));
  map.element.addEventListener("click", (e) => { const k = at(e); if (k >= 0) { focus = k; map.paint(); tell(k); } });
  map.element.addEventListener("keydown", (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: side * threads, ArrowUp: -side * threads }[e.key];
    if (!step) return;
    e.preventDefault();
    focus = Math.max(0, Math.min(values.length - 1, focus + step));
    tell(focus);
    map.paint();
  });
  const present = values.filter((v) => v > 0), mean = values.reduce((a, v) => a + v, 0) / (values.length || 1);
  const spread = el("p", { class: "note" }, `${values.length} threads: least ${words(smallest(values), c.unit)}, mean ${words(mean, c.unit)}, most ${words(most, c.unit)}`, present.length < values.length ? `; ${values.length - present.length} have none` : "");
  const legend = el("p", { class: "scale", "aria-hidden": "true" }, el("span", {}, floor ? words(floor, c.unit) : "0"), el("span", { class: "ramp" }), el("span", {}, words(most, c.unit)));
  tell(focus);
  return [map.box, says, el("div", { class: "split" }, spread, legend)];
}

/** Where the threads that came differ most: execT of a team is the same for all of them. */
function mostUneven(columns: Column[], kept: number[]): Column {
  const came = kept.filter((i) => columns[0]?.rows?.[i]);
  let best = columns[0], most = 0;
  for (const c of columns) {
    const values = came.map((i) => c.rows?.[i] ?? 0), spread = largest(values) - smallest(values);
    if (c.unit === "ns" && c.title !== "execT" && spread > most) [best, most] = [c, spread];
  }
  return best;
}

export function threads(p: Profile): Child[] {
  const state = read(), id = p.table.has(state.region) ? state.region : p.raw.tables[0]?.region, columns = id === undefined ? undefined : p.table.get(id);
  if (id === undefined || !columns) return [note("No region was executed.")];
  const region = p.regions[id], rows = p.raw.locations.map((_, i) => i), kept = rows.filter((i) => p.raw.locations[i][0] >= 0);
  const head = [el("p", {}, id !== state.region ? (state.region >= 0 ? `${p.regions[state.region].label} has no values of its own; ` : "No region is chosen; ") + "this is the one with most time: " : "", el("b", {}, `${region.label} ${region.type} ${region.place}`))];
  const chosen = columns.find((c) => c.title === state.column) ?? mostUneven(columns, kept), each = !!columns[0]?.rows;
  const used = columns.filter((c) => c.sum[0] !== 0 || c.rows?.some((v) => v));
  const meaning = (c: Column): string => p.raw.meanings[c.title] ?? "";
  const tools = el("div", { class: "tools" }, select("Column", used.map((c) => [c.title, meaning(c) ? `${c.title}: ${meaning(c)}` : c.title] as [string, string]), chosen.title, (column) => go({ column })),
    select("Colours", [["", "from 0"], ["least", "from the least"]], state.q, (q) => go({ q })));
  const legend = used.filter(meaning).map((c) => el("li", {}, el("b", {}, c.title), ` ${meaning(c)}`));
  const cells: TableColumn[] = used.map((c) => {
    const digits = digitsFor(largest((c.rows ?? c.sum).map((v) => v ?? 0)));
    const of = (i: number) => (i < 0 ? c.sum[0] : c.rows?.[i]) ?? NaN;
    return { title: c.title + (c.unit === "ns" ? " [s]" : ""), number: true, width: "6em", hint: meaning(c) || undefined, cell: (i) => value(of(i), c.unit, digits), text: (i) => (c.unit === "ns" ? (of(i) / 1e9).toFixed(9) : String(of(i))), sort: (i) => of(i) || 0 };
  });
  const name: TableColumn[] = [
    ...(p.raw.mpi ? [{ title: "Rank", width: "5em", header: true, cell: (i: number) => (i < 0 ? "SUM" : p.raw.locations[i][0] < 0 ? "others" : String(p.raw.locations[i][0])), sort: (i: number) => (i < 0 ? -1 : p.raw.locations[i][0] < 0 ? 1e9 : p.raw.locations[i][0]) }] : []),
    { title: "Thread", width: "6em", header: !p.raw.mpi, cell: (i) => (i < 0 ? (p.raw.mpi ? "" : "SUM") : p.raw.locations[i][0] < 0 ? "" : String(p.raw.locations[i][1])), sort: (i) => (i < 0 ? -1 : p.raw.locations[i][1]) },
  ];
  return [...head, tools, ...(each ? picture(p, chosen, kept) : [note("The page has sums of this region alone: single threads of regions with more time fill it.")]),
    heading("All columns"), table({ label: `Values of ${region.label} by thread`, columns: [...name, ...cells, { title: "", cell: () => "" }], rows: [-1, ...(each ? rows : [])] }),
    el("ul", { class: "legend", "aria-label": "What the columns are" }, ...legend)];
}
