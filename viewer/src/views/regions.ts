import type { Profile, Region } from "../data";
import { el, type Child } from "../dom";
import { count, digitsFor, largest, percent, seconds, value, unitName } from "../format";
import { lossStack, note, placed, regionLink } from "../parts";
import { search, table, type TableColumn } from "../table";
import { go, hash, read } from "../state";

export const matches = (r: Region, words: string[]): boolean => {
  const text = `${r.label} ${r.type} ${r.place} ${r.name} ${r.file}`.toLowerCase();
  return words.every((w) => text.includes(w));
};

/** Further metrics of regions: bytes, calls, counters. */
function further(p: Profile): TableColumn[] {
  return p.measures.filter((m) => m.tree === p.tree && m.unit !== "ns" && m.title !== "executions").slice(0, 6).map((m) => {
    const sums = p.perRegion(m), unit = unitName(m.unit);
    return { title: m.title + (unit && m.unit !== "bytes" ? ` [${unit}]` : ""), hint: m.meaning, width: "7.5em", number: true, cell: (i) => value(sums.get(i) ?? 0, m.unit, 3), text: (i) => String(sums.get(i) ?? 0), sort: (i) => sums.get(i) ?? 0 };
  });
}

export function regions(p: Profile): Child[] {
  const executed = p.listed.filter((r) => r.nodes > 0), digits = digitsFor(largest(executed.map((r) => r.time))), selected = read().region;
  if (!executed.length) return [note("No region was executed. ", p.raw.samples ? el("a", { href: hash({ view: "samples" }) }, "Samples") : "", p.raw.samples ? " say where the processor time went." : "")];
  const holder = el("div", { class: "fill" });
  const exact = (ns: number) => (ns / 1e9).toFixed(9);
  const columns: TableColumn[] = [
    { title: "Region", width: "5.5em", header: true, cell: (i) => regionLink(p.regions[i]), sort: (i) => p.regions[i].number },
    { title: "Type", width: "9.5em", cell: (i) => (p.regions[i].type === "MPI" ? p.regions[i].name : p.regions[i].type), sort: (i) => p.regions[i].type },
    { title: "Place", least: 11, cell: (i) => placed(p.regions[i].place.replace(p.regions[i].isPath ? / \('.*'\)$/ : / \('MPI_.*'\)$/, "")), text: (i) => p.regions[i].place, sort: (i) => p.regions[i].place },
    { title: "Thread time [s]", hint: "of all threads together, with what lies below", width: "7em", number: true, cell: (i) => seconds(p.regions[i].time, digits), text: (i) => exact(p.regions[i].time), sort: (i) => p.regions[i].time },
    { title: "%", hint: "of the time of all threads", width: "4.5em", number: true, cell: (i) => percent(p.regions[i].time, p.basis), sort: (i) => p.regions[i].time },
    { title: "Own [s]", hint: "of all threads together, without the regions below", width: "6em", number: true, cell: (i) => seconds(p.regions[i].own, digits), text: (i) => exact(p.regions[i].own), sort: (i) => p.regions[i].own },
    { title: "Executions", width: "7.5em", number: true, cell: (i) => count(p.regions[i].count), text: (i) => String(p.regions[i].count), sort: (i) => p.regions[i].count },
    { title: "Lost [s]", hint: "of all threads together, in the region itself: " + p.losses.map((l) => l.title).join(", "), width: "6em", number: true, cell: (i) => seconds(p.regions[i].lost, digits), text: (i) => exact(p.regions[i].lost), sort: (i) => p.regions[i].lost },
    { title: "%", hint: "of the region's time", width: "4.5em", number: true, cell: (i) => percent(p.regions[i].lost, p.regions[i].time), sort: (i) => p.regions[i].lost / (p.regions[i].time || 1) },
    { title: "Losses", width: "4em", cell: (i) => lossStack(p, p.regions[i].losses, p.regions[i].time) },
    ...further(p),
  ];
  const show = (text: string) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    holder.replaceChildren(table({ label: "Regions", columns, sort: "-4", rows: executed.filter((r) => matches(r, words)).map((r) => r.id), selected: (i) => i === selected, open: (i) => go({ region: i }), reveal: selected }));
  };
  show(read().q);
  return [el("div", { class: "tools" }, search("Search regions: name, file, type", show)), holder];
}
