import type { Profile, Region } from "../data";
import { el, type Child } from "../dom";
import { digitsFor, largest, seconds, time } from "../format";
import { lossStack, note, regionLink, select } from "../parts";
import { table } from "../table";
import { go, read } from "../state";

interface Line { sampled: number; time: number; regions: Region[] }
interface File { name: string; lines: Map<number, Line>; time: number }

function files(p: Profile): File[] {
  const all = new Map<string, File>();
  const line = (file: string, number: number): Line => {
    let f = all.get(file);
    if (!f) all.set(file, (f = { name: file, lines: new Map(), time: 0 }));
    let l = f.lines.get(number);
    if (!l) f.lines.set(number, (l = { sampled: 0, time: 0, regions: [] }));
    return l;
  };
  for (const r of p.listed) {
    if (r.isPath || !r.nodes || !r.file || !r.begin) continue;
    const l = line(r.file, r.begin);
    l.regions.push(r);
    l.time += r.time;
    all.get(r.file)!.time += r.own;
  }
  for (const [id, own] of p.raw.samples?.lines ?? []) {
    const r = p.regions[id];
    if (!r.file || !r.begin) continue;
    line(r.file, r.begin).sampled += own;
    all.get(r.file)!.time += own;
  }
  return [...all.values()].sort((a, b) => b.time - a.time);
}

const short = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

export function source(p: Profile): Child[] {
  const state = read(), all = files(p), region = p.regions[state.region];
  if (!all.length) return [note("No region and no sample has a line of the source: the program was built without -g, or the lines were not found.")];
  const text = new Map(Object.entries(p.raw.sources ?? {}));
  const file = all.find((f) => f.name === state.q) ?? all.find((f) => f.name === region?.file) ?? all.find((f) => text.has(f.name) && !f.name.startsWith("/usr/")) ?? all.find((f) => text.has(f.name)) ?? all[0], lines = text.get(file.name);
  const cost = (n: number) => Math.max(file.lines.get(n)!.time, file.lines.get(n)!.sampled);
  const known = [...file.lines.keys()].sort((a, b) => a - b), rows = lines ? lines.map((_, i) => i + 1) : known;
  const hottest = known.reduce((a, n) => (cost(n) > cost(a) ? n : a), known[0]);
  const sampled = !!p.raw.samples, digits = digitsFor(largest([...file.lines.values()].map((l) => Math.max(l.time, l.sampled))));
  const mine = region && region.file === file.name ? region : undefined;
  const inside = (n: number) => !!mine && n >= mine.begin && n <= Math.max(mine.end, mine.begin);
  return [
    el("div", { class: "tools" }, select("File", all.map((f) => [f.name, `${short(f.name)}  ${time(f.time)}${text.has(f.name) ? "" : " (lines only)"}`] as [string, string]), file.name, (q) => go({ q })), note(file.name)),
    lines ? "" : note("The text of this file is not in the page: it could not be read where the page was made, or OMPP_REDACT was set. These are its lines with values."),
    table({
      label: "Source " + short(file.name), rows, reveal: mine?.begin ?? hottest, selected: inside,
      columns: [
        ...(sampled ? [{ title: "CPU [s]", hint: "processor time by samples", width: "6.5em", number: true, cell: (n: number) => { const l = file.lines.get(n); return l?.sampled ? seconds(l.sampled, digits) : ""; } }] : []),
        { title: "Time [s]", hint: "of regions and calls that begin here, all threads", width: "6.5em", number: true, cell: (n) => { const l = file.lines.get(n); return l?.time ? seconds(l.time, digits) : ""; } },
        { title: "Lost", hint: "of that time", width: "4em", cell: (n) => { const r = file.lines.get(n)?.regions[0]; return r ? lossStack(p, r, r.time) : ""; } },
        { title: "Construct", width: "12em", cell: (n) => { const l = file.lines.get(n); return l?.regions.length ? el("span", {}, ...l.regions.slice(0, 3).flatMap((r, i) => [i ? ", " : "", regionLink(r), " " + (r.type === "MPI" ? r.name : r.brief)]), l.regions.length > 3 ? ` +${l.regions.length - 3}` : "") : ""; } },
        { title: "Line", width: "4.5em", number: true, header: true, cell: (n) => String(n) },
        { title: "Text", least: 60, cell: (n) => el("code", {}, lines ? lines[n - 1].replace(/\t/g, "    ") : "") },
      ],
    })];
}
