import type { Measure, Profile } from "../data";
import { canvas, colour, el, type Child } from "../dom";
import { percent, words } from "../format";
import { chosenMeasure, note, shortName } from "../parts";
import { go, read } from "../state";
import { heaviest, measureChoice, nodeText } from "./tree";

const ROW = 22, LEAST = 0.5; /* px of a node that is drawn */

/** Places of the nodes below top, as parts of its width. Children stand side by side; where they are more than their parent, they shrink. */
function layout(m: Measure, top: number): { x: Float64Array; w: Float64Array; deepest: number } {
  const x = new Float64Array(m.tree.n), w = new Float64Array(m.tree.n), next = new Float64Array(m.tree.n), sum = new Float64Array(m.tree.n);
  let deepest = m.tree.depth[top];
  for (let i = top + 1; i < m.tree.end[top]; i++) sum[m.tree.parent[i]] += m.all[i];
  w[top] = 1;
  for (let i = top + 1; i < m.tree.end[top]; i++) {
    const up = m.tree.parent[i], whole = Math.max(sum[up], m.all[up]);
    w[i] = whole > 0 ? (w[up] * m.all[i]) / whole : 0;
    x[i] = next[up];
    next[up] += w[i];
    next[i] = x[i];
    if (w[i] > 1e-4 && m.tree.depth[i] > deepest) deepest = m.tree.depth[i];
  }
  return { x, w, deepest };
}

/** By what it is: regions of a kind have one colour, functions another. */
function kindOf(p: Profile, region: number): string {
  if (region < 0) return "i-root";
  const r = p.regions[region];
  if (r.isPath) return r.type === "FUNCTION" ? "i-function" : "i-part";
  if (r.type === "MPI") return "i-mpi";
  if (/PARALLEL|TEAMS/.test(r.type)) return "i-parallel";
  return /CRITICAL|LOCK|ATOMIC|BARRIER|ORDERED|FLUSH|WAIT|SINGLE|MASTER/.test(r.type) ? "i-sync" : r.type === "USER REGION" ? "i-user" : "i-work";
}

const KINDS: [string, string][] = [["i-parallel", "parallel regions"], ["i-work", "loops, tasks, other constructs"], ["i-sync", "synchronisation"], ["i-mpi", "MPI"], ["i-user", "user regions"], ["i-function", "functions"], ["i-part", "loops and inlined calls in functions"]];

export function icicle(p: Profile): Child[] {
  const state = read(), m = chosenMeasure(p, state.metric), top = state.node > 0 && state.node < m.tree.n ? state.node : 0;
  const { x, w, deepest } = layout(m, top), levels: number[] = [];
  const used = new Set<string>();
  for (let i = top; i < m.tree.end[top]; i++) if (w[i] > 0) used.add(kindOf(p, m.tree.region[i]));
  for (let i = top; i > 0; ) levels.unshift((i = m.tree.parent[i]));
  const above = levels.length, rows = above + deepest - m.tree.depth[top] + 1;
  let focus = state.region >= 0 && (top === 0 || m.tree.region[top] !== state.region) ? heaviest(m, state.region) : top;
  if (focus < top || focus >= m.tree.end[top] || w[focus] <= 0) focus = top;
  const says = el("p", { class: "says", "aria-live": "polite" });
  const tell = (i: number) => {
    const { what, text } = nodeText(p, m.tree.region[i]);
    says.replaceChildren(el("b", {}, `${what} ${text}`.trim()), ` ${words(m.all[i], m.unit)}, ${percent(m.all[i], m.all[0])} % of ${m.title}; own ${words(m.own[i], m.unit)}, ${percent(m.own[i], m.all[0])} %`);
  };
  const picture = canvas(() => Math.max(3, rows) * ROW, (c, width) => {
    const bg = colour("bg"), ink = colour("i-text"), mark = colour("ink");
    const colours = new Map<string, string>();
    const paint = (i: number, left: number, wide: number, row: number, faded: boolean) => {
      const kind = kindOf(p, m.tree.region[i]);
      if (!colours.has(kind)) colours.set(kind, colour(kind));
      c.globalAlpha = faded ? 0.55 : 1;
      c.fillStyle = colours.get(kind)!;
      c.fillRect(left, row * ROW, Math.max(wide - (wide > 3 ? 1 : 0), LEAST), ROW - 1);
      c.globalAlpha = 1;
      if (wide > 28) {
        const { what, text } = nodeText(p, m.tree.region[i]), label = m.tree.region[i] >= 0 && p.regions[m.tree.region[i]].isPath ? shortName(p.regions[m.tree.region[i]].name) || text : `${what} ${text}`.trim();
        c.save();
        c.beginPath();
        c.rect(left, row * ROW, wide - 4, ROW);
        c.clip();
        c.fillStyle = ink;
        c.fillText(label, left + 4, row * ROW + 15);
        c.restore();
      }
      if (m.tree.region[i] === state.region && i > 0 && wide > 1) frame(i, left, wide, row, 1);
    };
    const frame = (i: number, left: number, wide: number, row: number, thick: number) => {
      void i;
      c.strokeStyle = mark;
      c.lineWidth = thick * 2;
      c.strokeRect(left + thick, row * ROW + thick, Math.max(wide - 1 - 2 * thick, 1), ROW - 1 - 2 * thick);
    };
    c.fillStyle = bg;
    c.fillRect(0, 0, width, rows * ROW);
    levels.forEach((i, row) => paint(i, 0, width, row, true));
    for (let i = top; i < m.tree.end[top]; ) {
      if (w[i] * width < LEAST) { i = m.tree.end[i]; continue; }
      paint(i, x[i] * width, w[i] * width, above + m.tree.depth[i] - m.tree.depth[top], false);
      i++;
    }
    frame(focus, x[focus] * width, w[focus] * width, above + m.tree.depth[focus] - m.tree.depth[top], 1);
  }, { role: "img", "aria-label": `Icicle of call paths by ${m.title}. Arrow keys go from node to node, Enter selects one. The call tree has the same as a table.` });

  const at = (event: MouseEvent): number => {
    const box = picture.element.getBoundingClientRect(), row = Math.floor((event.clientY - box.top) / ROW), part = (event.clientX - box.left) / box.width;
    if (row < above) return levels[row] ?? -1;
    const depth = row - above + m.tree.depth[top];
    for (let i = top; i < m.tree.end[top]; ) {
      if (part < x[i] || part >= x[i] + w[i]) { i = m.tree.end[i]; continue; }
      if (m.tree.depth[i] === depth) return i;
      i++;
    }
    return -1;
  };
  const select = (i: number) => { if (i >= 0) go(i ? { region: m.tree.region[i], node: i } : { node: 0 }); };
  picture.element.addEventListener("mousemove", (e) => { const i = at(e); picture.element.style.cursor = i >= 0 ? "pointer" : ""; tell(i >= 0 ? i : focus); });
  picture.element.addEventListener("mouseleave", () => tell(focus));
  picture.element.addEventListener("click", (e) => select(at(e)));
  picture.element.addEventListener("keydown", (event) => {
    const { parent, end, depth } = m.tree, up = parent[focus];
    let to = -1;
    if (event.key === "ArrowUp") to = focus > top ? up : above ? levels[above - 1] : -1;
    else if (event.key === "ArrowDown") { for (let i = focus + 1; i < end[focus] && to < 0; i = end[i]) if (w[i] > 0) to = i; }
    else if (event.key === "ArrowRight") { if (focus > top && end[focus] < end[up] && depth[end[focus]] === depth[focus]) to = end[focus]; }
    else if (event.key === "ArrowLeft") { for (let i = up + 1; focus > top && i < focus; i = end[i]) to = i; }
    else if (event.key === "Enter") { select(focus); return; }
    else if (event.key === "Escape") { go({ node: 0 }); return; }
    else return;
    event.preventDefault();
    if (to < 0) return;
    if (to < top) { select(to); return; }
    focus = to;
    tell(focus);
    picture.paint();
  });
  tell(focus);
  return [
    el("div", { class: "tools" }, measureChoice(p, m.key), top ? el("button", { type: "button", click: () => go({ node: 0 }) }, "Whole program") : "", note("A click shows what is below; Escape shows all again.")),
    says, m.all[0] > 0 ? picture.box : note("There is nothing of this metric."),
    el("ul", { class: "legend" }, ...KINDS.filter(([kind]) => used.has(kind)).map(([kind, text]) => el("li", {}, el("span", { class: "key " + kind, "aria-hidden": "true" }), text)))];
}
