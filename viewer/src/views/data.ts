// Data structures: what each region loads and stores of them, and what misses in simulated caches.
import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { bytes, count, percent } from "../format";
import { bar, heading, linked, note, regionLink, report } from "../parts";
import { search, table, type TableColumn } from "../table";
import { go, read } from "../state";

const LEVELS = ["L1", "L2", "L3"];
const size = (kib: number): string => (kib < 1024 ? `${kib}K` : `${kib / 1024}M`);

export function data(p: Profile): Child[] {
  const s = p.raw.structures;
  if (!s) return [note("Loads and stores of data structures were not counted.")];
  const name = (object: number) => (object < 0 ? "(all data)" : s.names[object]);
  const ofAll = s.rows.filter((r) => r[1] < 0).reduce((sum, r) => sum + r[2] + r[3], 0);
  const accesses = (r: number[]) => r[2] + r[3];
  const sums = s.names.map((_, object) => s.rows.filter((r) => r[1] === object).reduce((sum, r) => sum.map((v, i) => v + r[i + 2]), s.columns.map(() => 0)));
  const values = (of: (i: number) => number[]): TableColumn[] => s.columns.slice(0, 4).map((title, c) => ({
    title, width: "8em", number: true, cell: (i: number) => (title.endsWith("ed") ? bytes(of(i)[c]) : count(of(i)[c])), text: (i: number) => String(of(i)[c]), sort: (i: number) => of(i)[c] }));
  const share = (of: (i: number) => number): TableColumn[] => [
    { title: "%", hint: "of all loads and stores", width: "4.5em", number: true, cell: (i) => percent(of(i), ofAll), sort: of },
    { title: "", width: "6em", cell: (i) => bar(of(i) / (ofAll || 1)) }];
  const pairs = s.rows.filter((r) => r[1] >= 0 || !s.names.length), misses = s.misses?.filter((r) => r[1] >= 0 || !s.names.length) ?? [];
  const uses = el("div", {}), caches = el("div", {});
  const place = (rows: number[][]): TableColumn[] => [
    { title: "Structure", header: true, least: 20, cell: (i) => el("span", { title: name(rows[i][1]) }, name(rows[i][1])), sort: (i) => name(rows[i][1]) },
    { title: "Region", cell: (i) => (rows[i][0] < 0 ? "outside regions" : regionLink(p.regions[rows[i][0]], p.regions[rows[i][0]].isPath ? undefined : `${p.regions[rows[i][0]].label} ${p.regions[rows[i][0]].place}`)), sort: (i) => p.regions[rows[i][0]]?.label ?? "" }];
  const titles = s.kind === "model" ? LEVELS : Array.from({ length: (s.misses?.[0]?.length ?? 3) - 3 }, (_, i) => size(2 ** i));
  const shown = titles.map((_, c) => c).filter((c) => s.kind === "model" || (c >= 2 && c % 2 === 0));
  const missed: TableColumn[] = shown.map((c) => ({
    title: titles[c] + " %", hint: "of the references, those that miss", width: "5em", number: true, cell: (i: number) => (misses[i][3 + c] < 0 ? "-" : percent(misses[i][3 + c], misses[i][2])),
    text: (i: number) => String(misses[i][3 + c]), sort: (i: number) => misses[i][3 + c] }));
  const show = (text: string) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean), region = read().region;
    const wanted = (rows: number[][]) => rows.map((_, i) => i).filter((i) => words.every((w) => `${name(rows[i][1])} ${p.regions[rows[i][0]]?.place ?? ""} ${p.regions[rows[i][0]]?.name ?? ""}`.toLowerCase().includes(w)));
    const selected = (rows: number[][]) => (i: number) => rows[i][0] === region, open = (rows: number[][]) => (i: number) => go({ region: rows[i][0] });
    uses.replaceChildren(table({ label: "Structures by region", height: "50vh", sort: "-3", rows: wanted(pairs), selected: selected(pairs), open: open(pairs),
      columns: [...place(pairs), ...share((i) => accesses(pairs[i])), ...values((i) => pairs[i].slice(2))] }));
    if (misses.length) caches.replaceChildren(table({ label: "Misses of simulated caches", height: "50vh", sort: "-3", rows: wanted(misses), selected: selected(misses), open: open(misses),
      columns: [...place(misses), { title: "References", width: "8em", number: true, cell: (i) => count(misses[i][2]), sort: (i) => misses[i][2] }, ...missed] }));
  };
  show(read().q);
  return [
    heading("Structures"), table({ label: "Structures", height: "40vh", rows: s.names.map((_, i) => i).filter((i) => sums[i].some((v) => v > 0)), sort: "-2",
      columns: [{ title: "Structure", header: true, least: 20, cell: (i) => el("span", { title: s.names[i] }, s.names[i]), sort: (i) => s.names[i] }, ...share((i) => sums[i][0] + sums[i][1]), ...values((i) => sums[i])] }),
    heading("By region, without the regions inside it"), el("div", { class: "tools" }, search("Search structures and regions", show)), uses,
    ...(misses.length ? [heading("Caches, simulated"), caches, el("pre", {}, ...report(p.raw.sections.cache).flatMap((line) => [...linked(p, line), "\n"]))] : []),
  ];
}
