import type { Profile, Region } from "../data";
import { el, type Child } from "../dom";
import { digitsFor, largest, seconds, time } from "../format";
import { largestLosses } from "../losses";
import { lossStack, note, regionLink, select } from "../parts";
import { table } from "../table";
import { go, hash, read } from "../state";

interface Line { sampled: number; time: number; lost: number[]; regions: Region[] }
interface File { name: string; lines: Map<number, Line>; time: number; sampled: number }

function files(p: Profile): File[] {
  const all = new Map<string, File>();
  const line = (file: string, number: number): Line => {
    let f = all.get(file);
    if (!f) all.set(file, (f = { name: file, lines: new Map(), time: 0, sampled: 0 }));
    let l = f.lines.get(number);
    if (!l) f.lines.set(number, (l = { sampled: 0, time: 0, lost: p.losses.map(() => 0), regions: [] }));
    return l;
  };
  for (const r of p.listed) {
    if (r.isPath || !r.nodes || !r.file || !r.begin) continue;
    const l = line(r.file, r.begin);
    l.regions.push(r);
    l.time += r.time;
    r.losses.forEach((ns, k) => (l.lost[k] += ns));
    all.get(r.file)!.time += r.own;
  }
  for (const [id, own] of p.raw.samples?.lines ?? []) {
    const r = p.regions[id];
    if (!r.file || !r.begin) continue;
    line(r.file, r.begin).sampled += own;
    all.get(r.file)!.time += own;
    all.get(r.file)!.sampled += own;
  }
  return [...all.values()].sort((a, b) => b.time - a.time);
}

const short = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The cause of the largest loss, or its region; of what one thread does alone, the function with most samples. */
function firstPlace(p: Profile): Region | undefined {
  const l = largestLosses(p)[0], place = l?.advice?.cause ?? l?.region;
  if (!l || place !== undefined) return p.regions[place ?? -1];
  const most = [...(p.raw.samples?.functions ?? [])].sort((a, b) => b[1] - a[1]).find(([id]) => p.raw.sources?.[p.regions[id].file]);
  return p.regions[most?.[0] ?? -1];
}

/** Other files of the program whose lines have more samples than this one: code that the compiler put inline. */
function elsewhere(p: Profile, all: File[], file: File, text: Map<string, string[]>): Child {
  const others = all.filter((f) => f !== file && text.has(f.name) && !f.name.startsWith("/usr/") && f.sampled > file.sampled).sort((a, b) => b.sampled - a.sampled).slice(0, 3);
  if (!p.raw.samples || !others.length) return "";
  return note(file.sampled ? "More processor time is" : "No sample is on a line of this file: the processor time is", " on lines of ",
    ...others.flatMap((f, i) => [i ? ", " : "", el("a", { href: hash({ q: f.name }) }, short(f.name)), ` (${time(f.sampled)})`]), ". What the compiler put inline counts where it is written.");
}

export function source(p: Profile): Child[] {
  const state = read(), all = files(p), region = p.regions[state.region] ?? firstPlace(p);
  if (!all.length) return [note("No region and no sample has a line of the source: the program was built without -g, or the lines were not found.")];
  const text = new Map(Object.entries(p.raw.sources ?? {}));
  const named = (name: string | undefined) => all.find((f) => f.name === name);
  const file = named(state.q) ?? named(region?.file) ?? all.find((f) => text.has(f.name) && !f.name.startsWith("/usr/")) ?? all.find((f) => text.has(f.name)) ?? all[0], lines = text.get(file.name);
  const cost = (n: number) => Math.max(file.lines.get(n)!.time, file.lines.get(n)!.sampled);
  const known = [...file.lines.keys()].sort((a, b) => a - b), rows = lines ? lines.map((_, i) => i + 1) : known;
  const hottest = known.reduce((a, n) => (cost(n) > cost(a) ? n : a), known[0]);
  const sampled = file.sampled > 0, digits = digitsFor(largest([...file.lines.values()].map((l) => Math.max(l.time, l.sampled))));
  const mine = region && region.file === file.name ? region : undefined;
  const inside = (n: number) => !!mine && n >= mine.begin && n <= Math.max(mine.end, mine.begin);
  const shown = (n: number, of: (l: Line) => number) => { const l = file.lines.get(n); return l && of(l) ? seconds(of(l), digits) : ""; };
  const tidy = (n: number) => (lines ? lines[n - 1].replace(/\t/g, "    ") : ""), longest = lines?.reduce((most, _, i) => Math.max(most, Math.min(tidy(i + 1).length, 400)), 0) ?? 0;
  return [
    el("div", { class: "tools" }, select("File", all.map((f) => [f.name, `${short(f.name)}  ${time(f.time)}${text.has(f.name) ? "" : " (lines only)"}`] as [string, string]), file.name, (q) => go({ q })), note(file.name + ": seconds of all threads together")),
    lines ? "" : note("The text of this file is not in the page: it could not be read where the page was made, or OMPP_REDACT was set. These are its lines with values."),
    elsewhere(p, all, file, text),
    table({
      label: "Source " + short(file.name), rows, reveal: mine?.begin ?? hottest, selected: inside,
      columns: [
        ...(sampled ? [{ title: "CPU", hint: "processor time of all threads by samples, s", width: "5.6em", number: true, cell: (n: number) => shown(n, (l) => l.sampled) }] : []),
        { title: "Time", hint: "of regions and calls that begin here, all threads together, s", width: "6em", number: true, cell: (n) => shown(n, (l) => l.time) },
        { title: "Lost", hint: "of that time, s", width: "6em", number: true, cell: (n) => shown(n, (l) => l.lost.reduce((a, b) => a + b, 0)) },
        { title: "", width: "3.5em", cell: (n) => { const l = file.lines.get(n); return l?.regions.length ? lossStack(p, l.lost, l.time) : ""; } },
        { title: "Construct", width: "14em", cell: (n) => { const l = file.lines.get(n); return l?.regions.length ? el("span", {}, ...l.regions.slice(0, 3).flatMap((r, i) => [i ? ", " : "", regionLink(r), " " + (r.type === "MPI" ? r.name : r.brief)]), l.regions.length > 3 ? ` +${l.regions.length - 3}` : "") : ""; } },
        { title: "Line", width: "3.5em", number: true, header: true, cell: (n) => String(n) },
        { title: "Text", least: Math.max(30, longest * 0.57 + 2), cell: (n) => el("code", { title: tidy(n).length > 60 ? tidy(n).trim() : null }, tidy(n)) },
      ],
    })];
}
