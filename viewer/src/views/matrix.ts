import type { Profile } from "../data";
import { canvas, colour, el, type Child } from "../dom";
import { bytes, count, everyMark, largest } from "../format";
import { heading, note, select } from "../parts";
import { table } from "../table";
import { go, read } from "../state";
import { shades } from "./threads";

const SIDE = 64, LABEL = 56, TOP = 18, LARGEST = 26, TALL = 640; /* px; TALL: with its headings it fits a window */

/** Who sends to whom: a square of ranks; of many ranks neighbours are one row and one column. */
function picture(p: Profile, byBytes: boolean): Child[] {
  const group = Math.ceil(p.raw.ranks / SIDE), n = Math.ceil(p.raw.ranks / group);
  const sent = new Float64Array(n * n), times = new Float64Array(n * n);
  for (const [from, to, messages, size] of p.raw.messages!) {
    if (from < 0 || to < 0) continue;
    const cell = Math.floor(from / group) * n + Math.floor(to / group);
    sent[cell] += size;
    times[cell] += messages;
  }
  const values = byBytes ? sent : times, most = largest(values), says = el("p", { class: "says", "aria-live": "polite" });
  const name = (k: number) => (group > 1 ? `ranks ${k * group} to ${Math.min(p.raw.ranks, (k + 1) * group) - 1}` : `rank ${k}`);
  let size = LARGEST, focus = values.indexOf(most);
  const tell = (k: number) => {
    if (k < 0) return;
    says.replaceChildren(el("b", {}, `${name(Math.floor(k / n))} to ${name(k % n)}`), `: ${bytes(sent[k])} in ${count(times[k])} messages`);
  };
  const map = canvas(() => { size = Math.max(3, Math.min(LARGEST, Math.max(5, Math.floor(TALL / n)), Math.floor((map.box.clientWidth - LABEL) / n))); return TOP + n * size + 2; }, (ctx) => {
    const scale = shades(), step = everyMark((ctx.measureText(String((n - 1) * group)).width + 6) / size);
    ctx.fillStyle = colour("muted");
    ctx.fillText("from / to", 0, 12);
    for (let k = 0; k < n; k += step) ctx.fillText(String(k * group), LABEL + k * size + 2, 12);
    for (let k = 0; k < n; k += everyMark(13 / size)) ctx.fillText(String(k * group), 0, TOP + k * size + Math.max(10, size / 2 + 5));
    values.forEach((v, k) => {
      ctx.fillStyle = scale[v > 0 && most > 0 ? 1 + Math.round((31 * v) / most) : 0];
      ctx.fillRect(LABEL + (k % n) * size, TOP + Math.floor(k / n) * size, size - 1, size - 1);
    });
    if (focus < 0) return;
    ctx.strokeStyle = colour("ink");
    ctx.lineWidth = 2;
    ctx.strokeRect(LABEL + (focus % n) * size - 0.5, TOP + Math.floor(focus / n) * size - 0.5, size, size);
  }, { role: "img", "aria-label": "Messages by sender (rows) and receiver (columns); the table below has the same. Arrow keys go from pair to pair." });
  const at = (e: MouseEvent) => {
    const box = map.element.getBoundingClientRect(), x = Math.floor((e.clientX - box.left - LABEL) / size), y = Math.floor((e.clientY - box.top - TOP) / size);
    return x >= 0 && x < n && y >= 0 && y < n ? y * n + x : -1;
  };
  map.element.addEventListener("mousemove", (e) => { const k = at(e); tell(k >= 0 ? k : focus); });
  map.element.addEventListener("mouseleave", () => tell(focus));
  map.element.addEventListener("click", (e) => { const k = at(e); if (k >= 0) { focus = k; map.paint(); tell(k); } });
  map.element.addEventListener("keydown", (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: n, ArrowUp: -n }[e.key];
    if (!step) return;
    e.preventDefault();
    focus = Math.max(0, Math.min(n * n - 1, focus + step));
    tell(focus);
    map.paint();
  });
  const text = (v: number) => (byBytes ? bytes(v) : count(v));
  tell(focus);
  return [says, map.box, el("div", { class: "split" }, note(group > 1 ? `Each cell is ${group} ranks by ${group}.` : `${n} ranks.`),
    el("p", { class: "scale", "aria-hidden": "true" }, el("span", {}, "0"), el("span", { class: "ramp" }), el("span", {}, text(most))))];
}

/** Point-to-point messages, as senders count them. */
export function matrix(p: Profile): Child[] {
  const list = p.raw.messages;
  if (!list?.length) return [];
  const byBytes = read().q !== "messages", total = list.reduce((sum, m) => sum + m[3], 0), rank = (r: number) => (r < 0 ? "others" : String(r));
  return [
    heading("Message matrix"), note("Point-to-point messages from rank to rank. Collective calls and one-sided access are not in it."),
    el("div", { class: "tools" }, select("Cells", [["", "bytes"], ["messages", "messages"]], byBytes ? "" : "messages", (q) => go({ q }))),
    ...picture(p, byBytes),
    table({
      label: "Pairs of ranks", rows: list.map((_, i) => i).sort((a, b) => list[b][3] - list[a][3] || list[b][2] - list[a][2]), height: "30vh",
      columns: [
        { title: "From", width: "6em", header: true, cell: (i) => rank(list[i][0]) },
        { title: "To", width: "6em", cell: (i) => rank(list[i][1]) },
        { title: "Messages", width: "8em", number: true, cell: (i) => count(list[i][2]) },
        { title: "Bytes", width: "8em", number: true, cell: (i) => bytes(list[i][3]), text: (i) => String(list[i][3]) },
        { title: "%", hint: "of all bytes", width: "5em", number: true, cell: (i) => (total ? ((100 * list[i][3]) / total).toFixed(1) : "0.0") },
        { title: "", cell: () => "" },
      ],
    }),
  ];
}
