import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { digitsFor, percent, value, unitName } from "../format";
import { bar, chosenMeasure, note, select, shortName } from "../parts";
import { table } from "../table";
import { go, hash, read } from "../state";

const WORTH = 0.005, MOST_OPEN = 400;
let open: { key: string; nodes: Set<number> } | null = null;

/** Nodes that are open at first: the ways to what is large. */
function atFirst(m: ReturnType<typeof chosenMeasure>): Set<number> {
  const nodes = new Set<number>([0]);
  for (let i = 1; i < m.tree.n && nodes.size < MOST_OPEN; i++)
    if (nodes.has(m.tree.parent[i]) && m.all[i] >= WORTH * m.all[0] && m.tree.end[i] > i + 1) nodes.add(i);
  return nodes;
}

function visible(m: ReturnType<typeof chosenMeasure>, nodes: Set<number>): number[] {
  const rows: number[] = [];
  for (let i = 0; i < m.tree.n; i = nodes.has(i) ? i + 1 : m.tree.end[i]) rows.push(i);
  return rows;
}

/** The node of a region with most of the metric. */
export function heaviest(m: ReturnType<typeof chosenMeasure>, region: number): number {
  let best = 0;
  for (let i = 1; i < m.tree.n; i++) if (m.tree.region[i] === region && (!best || m.all[i] > m.all[best])) best = i;
  return best;
}

export const measureChoice = (p: Profile, chosen: string): HTMLElement =>
  select("Metric", p.measures.map((m) => [m.key, m.title] as [string, string]), chosen, (metric) => go({ metric, node: 0 }));

export function nodeText(p: Profile, region: number): { what: string; text: string } {
  if (region < 0) return { what: "", text: p.raw.application };
  const r = p.regions[region];
  if (r.type === "MPI") return { what: r.name, text: r.place.replace(/ \('.*'\)$/, "") };
  return r.isPath ? { what: r.type === "FUNCTION" ? "" : r.brief, text: r.name ? `${shortName(r.name)}${r.file ? "  " + r.place.replace(/ \('.*$/, "") : ""}` : r.place } : { what: r.brief, text: r.place };
}

export function tree(p: Profile): Child[] {
  const state = read(), m = chosenMeasure(p, state.metric), holder = el("div", { class: "fill" });
  if (open?.key !== m.key) open = { key: m.key, nodes: atFirst(m) };
  const nodes = open.nodes, digits = digitsFor(m.all[0]), unit = unitName(m.unit), per = m.key === "wall" ? " per thread" : m.unit === "ns" ? ", all threads" : "";
  const target = state.node > 0 && state.node < m.tree.n ? state.node : state.region >= 0 ? heaviest(m, state.region) : 0;
  for (let i = target; i > 0; ) nodes.add((i = m.tree.parent[i]));
  const inner = (i: number) => m.tree.end[i] > i + 1;
  const name = (i: number) => {
    const { what, text } = nodeText(p, m.tree.region[i]);
    const twist = inner(i) ? el("button", { type: "button", tabindex: -1, class: "twist", "aria-label": nodes.has(i) ? "fold" : "unfold", click: () => toggle(i, !nodes.has(i)) }, nodes.has(i) ? "\u25be" : "\u25b8") : el("span", { class: "twist" });
    const cell = el("span", { class: "node" }, twist, what ? el("span", { class: "tag" }, what) : "", i ? el("a", { href: hash({ region: m.tree.region[i], node: i }), title: p.regions[m.tree.region[i]].name || null }, text) : text);
    cell.style.paddingLeft = 14 * Math.min(m.tree.depth[i], 40) + "px";
    return cell;
  };
  const toggle = (i: number, on: boolean) => {
    if (!inner(i)) return;
    if (on) nodes.add(i); else nodes.delete(i);
    show(i);
  };
  const show = (reveal: number) => {
    const scroll = holder.querySelector(".rows")?.scrollTop, had = holder.contains(document.activeElement);
    holder.replaceChildren(table({
      label: "Call tree by " + m.title, rows: visible(m, nodes), reveal, selected: (i) => i > 0 && m.tree.region[i] === state.region,
      open: (i) => { if (i) go({ region: m.tree.region[i], node: i }); },
      tree: { level: (i) => m.tree.depth[i], expanded: (i) => (inner(i) ? nodes.has(i) : null), toggle },
      columns: [
        { title: "Call path", least: 15, header: true, cell: name, text: (i) => "  ".repeat(m.tree.depth[i]) + Object.values(nodeText(p, m.tree.region[i])).join(" ").trim() },
        { title: `All${per}${unit ? ` [${unit}]` : ""}`, hint: m.meaning, width: "8.5em", number: true, cell: (i) => value(m.all[i], m.unit, digits) },
        { title: "%", width: "4.5em", number: true, cell: (i) => percent(m.all[i], m.all[0]) },
        { title: "", width: "8em", cell: (i) => bar(m.all[i] / (m.all[0] || 1), m.key === "lost" ? "imbal" : m.loss || "bar") },
        { title: `Own${per}${unit ? ` [${unit}]` : ""}`, hint: "without what is below", width: "8.5em", number: true, cell: (i) => value(m.own[i], m.unit, digits) },
        { title: "%", width: "4.5em", number: true, cell: (i) => percent(m.own[i], m.all[0]) },
      ],
    }));
    const box = holder.querySelector<HTMLElement>(".rows");
    if (box && scroll !== undefined) box.scrollTop = scroll;
    if (box && had) box.focus();
  };
  const all = (on: boolean) => {
    open = { key: m.key, nodes: new Set(on ? Array.from({ length: m.tree.n }, (_, i) => i).filter(inner) : [0]) };
    go({ node: 0 });
    window.dispatchEvent(new Event("hashchange"));
  };
  show(target);
  return [
    el("div", { class: "tools" }, measureChoice(p, m.key), el("button", { type: "button", click: () => all(true) }, "Unfold all"), el("button", { type: "button", click: () => all(false) }, "Fold all"),
      note(m.meaning, m.tree === p.tree && p.raw.samples ? ". What runs outside of regions: " : "", m.tree === p.tree && p.raw.samples ? el("a", { href: hash({ metric: "cpu", node: 0 }) }, "functions, by samples") : "")), holder];
}
