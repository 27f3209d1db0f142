// The profile as src/report/ompp_html*.c writes it, and what follows from it.
import type { Unit } from "./format";

export interface Metric { title: string; meaning: string; unit: Unit; loss?: string; /* its kind */ all?: number[]; own?: number[] }
export interface Column { title: string; unit: Unit; sum: [number]; rows?: (number | null)[] }
export interface Gain { speedup: number; gain: number; low?: number; high?: number; chance: number; observations: number }
export interface Result {
  region?: number; inside?: number; share: number; own: number; slope: number; knee: number; verdict: string; flags: string[]; gains: Gain[];
}
export interface Advice { name: string; lost: number; region?: number; text: string; cause?: number }
/** Of the run (the first one), or of a user region. */
export interface Efficiency { region?: number; time: number; work: number; threads: number; ratios: { level: number; name: string; value: number; meaning: string }[] }
export interface Overhead { region: number; wall: number; total: number; lost: number; classes: number[] }
export interface Rank { rank: number; host: string; threads: number; duration: number; parallel: number; mpi: number; serial: number }
export type Sampled = [region: number, own: number, all: number];

export interface Raw {
  format: number; application: string; version: string; source: string; end: string; mpi: number; ranks: number; rest: number; slots: number;
  duration: number; outside: number; basis: number; rank: Rank[]; sections: Record<string, string[]>;
  efficiency?: {
    of: Efficiency[]; parts: { name: string; kind: string; time: number; meaning: string }[]; lost: [name: string, text: string][];
    losses: [lost: number, region: number, rank: number, time: number, ofRank: number][];
  };
  overheads: { coverage: number; classes: string[]; regions: Overhead[]; sum: [Overhead] };
  advice: Advice[]; unlisted: number;
  constructs: [full: string, brief: string, path: number][];
  regions: {
    number: number[]; construct: number[]; begin: number[]; end: number[]; files: string[]; file: number[]; name: string[]; place: string[];
    module: string[];
  };
  tree: { parent: number[]; region: number[]; divisor: number[]; metrics: Metric[] };
  locations: [rank: number, tid: number, kind: string][]; meanings: Record<string, string>; /* of columns */
  tables: { region: number; columns: Column[] }[];
  messages?: [from: number, to: number, messages: number, bytes: number][]; /* -1: several together */
  whatif?: { mode: string; time: number; outside: string; results: Result[] };
  samples?: {
    count: number; time: number; processor: number; owners: [string, number][]; functions: Sampled[]; loops: Sampled[]; lines: Sampled[];
    tree: { parent: number[]; region: number[]; all: number[]; own: number[] };
  };
  /** rows: region (-1: none), structure (-1: all data), then the columns; misses: the same, references, then levels or sizes. */
  structures?: { columns: string[]; names: string[]; rows: number[][]; kind?: string; misses?: number[][] };
  sources?: Record<string, string[]>;
}

/** Call paths with one metric; nodes in the order of a walk from the root, so that what lies below node n is n + 1 .. end[n] - 1. */
export interface Tree { n: number; parent: Int32Array; region: Int32Array; depth: Int32Array; end: Int32Array }
export interface Measure {
  key: string; title: string; meaning: string; unit: Unit; loss: string; tree: Tree; all: Float64Array; own: Float64Array;
}

export interface Region {
  id: number; label: string; number: number; type: string; brief: string; place: string; file: string; begin: number; end: number; name: string;
  nodes: number; time: number; own: number; count: number; lost: number; losses: number[]; isPath: boolean; sampled: number;
}

export interface Profile {
  raw: Raw; tree: Tree; measures: Measure[]; regions: Region[]; listed: Region[]; basis: number; losses: { kind: string; title: string }[];
  table: Map<number, Column[]>; perRegion: (measure: Measure) => Map<number, number>;
}

async function inflate(text: string): Promise<string> {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

function makeTree(parent: number[], region: number[]): Tree {
  const n = parent.length;
  const tree = { n, parent: Int32Array.from(parent), region: Int32Array.from(region, (r) => r - 1), depth: new Int32Array(n), end: new Int32Array(n) };
  for (let i = 1; i < n; i++) tree.depth[i] = tree.depth[tree.parent[i]] + 1;
  for (let i = n - 1; i >= 0; i--) {
    if (!tree.end[i]) tree.end[i] = i + 1;
    if (i) tree.end[tree.parent[i]] = Math.max(tree.end[tree.parent[i]], tree.end[i]);
  }
  return tree;
}

/** Each list follows from the other: all = own of the node and of all below it. */
function measure(key: string, tree: Tree, metric: Metric): Measure {
  const own = metric.own ? Float64Array.from(metric.own) : new Float64Array(tree.n);
  const all = metric.all ? Float64Array.from(metric.all) : Float64Array.from(own);
  for (let i = tree.n - 1; i > 0; i--) if (!metric.all) all[tree.parent[i]] += all[i];
  if (!metric.own) {
    own.set(all);
    for (let i = 1; i < tree.n; i++) own[tree.parent[i]] = Math.max(0, own[tree.parent[i]] - all[i]);
  }
  return { key, title: metric.title, meaning: metric.meaning, unit: metric.unit, loss: metric.loss ?? "", tree, all, own };
}

function perThread(time: Measure, raw: Raw): Measure {
  const mean = (of: Float64Array) => of.map((v, i) => v / raw.tree.divisor[i]);
  const result = { ...time, key: "wall", title: "time per thread", meaning: "mean over threads, as in the callgraph", all: mean(time.all), own: mean(time.own) };
  result.all[0] = raw.duration;
  result.own[0] = raw.outside;
  return result;
}

function sumLosses(measures: Measure[], tree: Tree): Measure | null {
  const losses = measures.filter((m) => m.loss);
  if (!losses.length) return null;
  const add = (which: "all" | "own") => losses.reduce((sum, m) => sum.map((v, i) => v + m[which][i]), new Float64Array(tree.n));
  return { key: "lost", title: "lost time", meaning: losses.map((m) => m.title).join(" + "), unit: "ns", loss: "", tree, all: add("all"), own: add("own") };
}

function makeRegions(raw: Raw): Region[] {
  return raw.regions.number.map((number, id) => {
    const [full, brief, path] = raw.constructs[raw.regions.construct[id]];
    const file = raw.regions.files[raw.regions.file[id] - 1] ?? "", name = raw.regions.name[id], begin = raw.regions.begin[id], end = raw.regions.end[id];
    const base = file.slice(file.lastIndexOf("/") + 1) || raw.regions.module[id];
    const lines = begin ? `${base}:${begin}${end > begin && full === "SOURCE LOOP" ? "-" + end : ""}` : base;
    const isPath = !!path;
    const place = raw.regions.place[id] || lines;
    const label = isPath ? name || lines : number ? "R" + String(number).padStart(5, "0") : place;
    return { id, label, number, type: full, brief, place, file, begin, end, name, isPath, nodes: 0, time: 0, own: 0, count: 0, lost: 0, losses: [], sampled: 0 };
  });
}

/** Sum over the nodes of each region. Recursion counts each call, as the flat profile does. */
function perRegion(m: Measure, which: "all" | "own"): Map<number, number> {
  const sums = new Map<number, number>();
  for (let i = 1; i < m.tree.n; i++) if (m[which][i]) sums.set(m.tree.region[i], (sums.get(m.tree.region[i]) ?? 0) + m[which][i]);
  return sums;
}

function fillRegions(raw: Raw, regions: Region[], tree: Tree, measures: Measure[], losses: Measure[]): void {
  for (const r of regions) r.losses = new Array(losses.length).fill(0);
  for (let i = 1; i < tree.n; i++) {
    const r = regions[tree.region[i]];
    r.nodes++;
    r.time += measures[1].all[i];
    r.own += measures[1].own[i];
    r.count += measures[2].own[i];
    losses.forEach((m, k) => { r.losses[k] += m.own[i]; r.lost += m.own[i]; });
  }
  for (const [id, own, all] of raw.samples?.functions ?? []) regions[id].sampled = all || own;
}

export function makeProfile(raw: Raw): Profile {
  const tree = makeTree(raw.tree.parent, raw.tree.region);
  const plain = raw.tree.metrics.map((m, i) => measure("m" + i, tree, m));
  const measures = [perThread(plain[0], raw), ...plain];
  const losses = plain.filter((m) => m.loss), lost = sumLosses(plain, tree);
  if (lost) measures.splice(2 + 1, 0, lost);
  if (raw.samples) {
    const t = raw.samples.tree, sampled = makeTree(t.parent, t.region);
    measures.push(measure("cpu", sampled, { title: "processor time (samples)", meaning: "by samples, with the functions of the program", unit: "ns", all: t.all, own: t.own }));
  }
  const regions = makeRegions(raw);
  fillRegions(raw, regions, tree, measures, losses);
  const used = new Set<number>([...tree.region.slice(1)]);
  for (const [id] of raw.samples?.functions ?? []) used.add(id);
  for (const result of raw.whatif?.results ?? []) if (result.region !== undefined) used.add(result.region);
  const listed = [...used].map((id) => regions[id]).sort((a, b) => Number(a.isPath) - Number(b.isPath) || (a.isPath ? b.sampled - a.sampled || b.time - a.time : b.time - a.time) || a.number - b.number);
  return {
    raw, tree, measures, regions, listed, basis: raw.duration * raw.slots, losses: losses.map((m) => ({ kind: m.loss, title: m.title })),
    table: new Map(raw.tables.map((t) => [t.region, t.columns])), perRegion: (m) => perRegion(m, m.unit === "ns" && m.loss ? "own" : "all"),
  };
}

export async function load(): Promise<Profile> {
  const element = document.getElementById("profile");
  const raw = JSON.parse(await inflate(element?.textContent ?? "")) as Raw;
  element?.remove();
  return makeProfile(raw);
}
