import type { Gain, Profile, Result } from "../data";
import { el, svg, type Child } from "../dom";
import { linked, note, regionLink, report, heading } from "../parts";
import { table } from "../table";
import { go, read } from "../state";

const W = 640, H = 300, LEFT = 46, RIGHT = 170, TOP = 12, BOTTOM = 40, CURVES = 6;
const pc = (x: number, digits = 1): string => { const t = (100 * x).toFixed(digits); return /^-0\.?0*$/.test(t) ? t.slice(1) : t; };
const at = (r: Result, speedup: number): Gain | undefined => r.gains.find((g) => Math.abs(g.speedup - speedup) < 1e-6);
const last = (r: Result): Gain => r.gains.reduce((a, g) => (g.speedup > a.speedup ? g : a), r.gains[0]);
const points = (r: Result): Gain[] => [{ speedup: 0, gain: 0, low: 0, high: 0, chance: 0, observations: 0 }, ...[...r.gains].sort((a, b) => a.speedup - b.speedup)];

/** Steps of an axis: 1, 2 or 5 of a power of ten, five or so of them. */
function ticks(low: number, high: number): number[] {
  const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw)!, out: number[] = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9; v += step) out.push(v);
  return out;
}

function chart(results: Result[], name: (r: Result) => string, marked: Result | undefined): Child {
  const all = results.flatMap((r) => r.gains.flatMap((g) => (r === marked ? [g.gain, g.low ?? g.gain, g.high ?? g.gain] : [g.gain])));
  const low = Math.min(0, ...all), high = Math.max(0.01, ...all) * 1.04;
  const x = (v: number) => LEFT + v * (W - LEFT - RIGHT), y = (v: number) => TOP + ((high - v) / (high - low)) * (H - TOP - BOTTOM);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "chart", role: "img", "aria-label": "Gain of the program by how much faster a region is; the table below has the numbers" });
  for (const v of ticks(low, high)) picture.append(svg("line", { x1: LEFT, x2: x(1), y1: y(v), y2: y(v), class: v === 0 ? "axis" : "grid" }), svg("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, pc(v, high - low < 0.05 ? 1 : 0)));
  for (const v of [0, 0.25, 0.5, 0.75, 1]) picture.append(svg("line", { x1: x(v), x2: x(v), y1: TOP, y2: H - BOTTOM, class: v ? "grid" : "axis" }), svg("text", { x: x(v), y: H - BOTTOM + 16, "text-anchor": "middle" }, pc(v, 0)));
  picture.append(svg("text", { x: (LEFT + x(1)) / 2, y: H - 6, "text-anchor": "middle" }, "the region is faster by % of its time"), svg("text", { x: -(TOP + (H - BOTTOM)) / 2, y: 12, transform: "rotate(-90)", "text-anchor": "middle" }, "the program gains %"));
  if (marked) {
    const known = points(marked).filter((g) => g.low !== undefined && g.high !== undefined);
    if (known.length > 1) picture.append(svg("polygon", { class: "band", points: [...known.map((g) => `${x(g.speedup)},${y(g.high!)}`), ...known.reverse().map((g) => `${x(g.speedup)},${y(g.low!)}`)].join(" ") }));
  }
  const ends = results.map((r, i) => ({ r, i, y: y(last(r).gain) })).sort((a, b) => a.y - b.y);
  ends.forEach((e, k) => { if (k && e.y < ends[k - 1].y + 14) e.y = ends[k - 1].y + 14; });
  for (let k = ends.length - 1, most = H - BOTTOM + 4; k >= 0; k--, most = ends[k + 1].y - 14) if (ends[k].y > most) ends[k].y = most;
  for (const { r, i, y: end } of ends) {
    const line = points(r), g = last(r), title = svg("title", {}, name(r));
    picture.append(svg("polyline", { class: `curve k${i}${r === marked ? " marked" : ""}`, points: line.map((q) => `${x(q.speedup)},${y(q.gain)}`).join(" ") }, title));
    for (const q of line.slice(1)) picture.append(svg("circle", { class: `dot k${i}`, cx: x(q.speedup), cy: y(q.gain), r: r === marked ? 3.5 : 2.5 }, svg("title", {}, `${name(r)}: ${pc(q.speedup, 0)} % faster, the program gains ${pc(q.gain)} %${q.low !== undefined ? ` (${pc(q.low)} to ${pc(q.high!)})` : ""}`)));
    picture.append(svg("line", { class: `lead k${i}`, x1: x(g.speedup) + 4, y1: y(g.gain), x2: x(1) + 14, y2: end }));
    const label = svg("text", { x: x(1) + 17, y: end + 4, class: r === marked ? "marked" : "" }, name(r));
    if (r.region !== undefined) { const link = svg("a", { href: "#" }, label); link.addEventListener("click", (e) => { e.preventDefault(); go({ region: r.region }); }); picture.append(link); }
    else picture.append(label);
  }
  return el("div", { class: "chartbox" }, picture);
}

/** The regions with most to gain, for the first page: of half their time, and of what was tried next to it. */
export function gains(p: Profile): { result: Result; gain: Gain }[] {
  const main = (r: Result) => at(r, 0.5) ?? last(r);
  return (p.raw.whatif?.results ?? []).filter((r) => r.gains.length && main(r).gain >= 0.005).sort((a, b) => main(b).gain - main(a).gain).slice(0, 3).map((result) => ({ result, gain: main(result) }));
}

/** What follows from the profile alone, without clocks. */
function ideal(p: Profile): Child[] {
  const lines = report(p.raw.sections.ideal);
  return lines.length ? [heading("If one thing were ideal"), el("pre", { class: "words" }, ...lines.flatMap((l) => [...linked(p, l), "\n"]))] : [];
}

export function whatif(p: Profile): Child[] {
  const w = p.raw.whatif, text = report(p.raw.sections.whatif), selected = read().region;
  if (!w) return [...ideal(p), heading("If one region were faster"), note("This was not measured. Run the program with OMPP_CAUSAL=virtual: then this view shows for each region how much faster the program would be if the region were faster.")];
  const words = () => el("details", { open: !w.results.length }, el("summary", {}, "As in the text report"), el("pre", {}, text.join("\n")));
  if (!w.results.length) return [note("There is no result: the lines below say why."), words(), ...ideal(p)];
  const name = (r: Result) => { if (r.region === undefined) return w.outside; const q = p.regions[r.region]; return `${q.label} ${q.name && !q.isPath ? q.name : q.isPath ? "" : q.brief}`.trim().slice(0, 26); };
  const rank = (r: Result) => last(r).gain, best = [...w.results].sort((a, b) => rank(b) - rank(a));
  const marked = w.results.find((r) => r.region === selected && selected >= 0) ?? best[0];
  const shown = best.slice(0, CURVES);
  if (!shown.includes(marked)) shown[shown.length - 1] = marked;
  const steps = [...new Set(w.results.flatMap((r) => r.gains.map((g) => g.speedup)))].sort((a, b) => a - b), some = steps.length > 5 ? steps.filter((s) => [0.25, 0.5, 0.75, 1].some((q) => Math.abs(q - s) < 1e-6)) : steps;
  return [
    note(`How much less time the whole program would take if one region were faster (${w.mode === "delay" ? "experiments with delays" : "virtual clocks"}). Gains of several regions do not add up. ${marked.gains.some((g) => g.low !== undefined) ? `The band is the 95 % interval of ${name(marked)}.` : `Of ${name(marked)} the interval is not determined.`}`),
    chart(shown, name, marked),
    heading("All regions that were followed"), note("Percent of its time that the program gains if the region is faster by as much as the column says."), table({
      label: "What the program gains", sort: "-" + (4 + some.length), rows: w.results.map((_, i) => i), selected: (i) => w.results[i].region === selected && selected >= 0, open: (i) => { if (w.results[i].region !== undefined) go({ region: w.results[i].region }); },
      columns: [
        { title: "Region", width: "9em", header: true, cell: (i) => (w.results[i].region === undefined ? w.outside : regionLink(p.regions[w.results[i].region!])), sort: (i) => (w.results[i].region === undefined ? 0 : p.regions[w.results[i].region!].number) },
        { title: "Place", least: 12, cell: (i) => (w.results[i].region === undefined ? "" : p.regions[w.results[i].region!].place) },
        { title: "Share %", hint: "of the time in which threads worked", width: "6em", number: true, cell: (i) => pc(w.results[i].share), sort: (i) => w.results[i].share },
        ...some.map((s) => ({ title: `${pc(s, 0)} %`, hint: `the program gains, percent of its time, if the region is ${pc(s, 0)} % faster`, width: "5em", number: true, cell: (i: number) => { const g = at(w.results[i], s); return g ? pc(g.gain) + (g.chance ? "?" : "") : "\u2013"; }, sort: (i: number) => at(w.results[i], s)?.gain ?? -9 })),
        { title: "95 % interval", hint: "of the last gain", width: "9em", number: true, cell: (i) => { const g = last(w.results[i]); return g?.low !== undefined ? `${pc(g.low)} to ${pc(g.high!)}` : "not determined"; } },
        { title: "Knee %", hint: "more speed-up than that brings almost nothing", width: "6em", number: true, cell: (i) => (w.results[i].knee ? pc(w.results[i].knee, 0) : "\u2013"), sort: (i) => w.results[i].knee },
        { title: "Remarks", width: "14em", cell: (i) => [w.results[i].verdict, ...w.results[i].flags].filter(Boolean).join(", ") },
      ],
    }), words(), ...ideal(p)];
}
