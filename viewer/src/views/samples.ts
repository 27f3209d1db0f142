import type { Profile, Sampled } from "../data";
import { el, type Child } from "../dom";
import { count, digitsFor, percent, seconds, time } from "../format";
import { bar, heading, note, regionLink, shortName } from "../parts";
import { table } from "../table";
import { go, hash, read } from "../state";

export function samples(p: Profile): Child[] {
  const s = p.raw.samples;
  if (!s) return [note("The run took no samples.")];
  const selected = read().region, digits = digitsFor(s.time);
  const rows = (title: string, list: Sampled[], line: boolean) => {
    if (!list.length) return [];
    return [heading(title), table({
      label: title, rows: list.map((_, i) => i), height: "50vh", selected: (i) => list[i][0] === selected, open: (i) => go({ region: list[i][0] }),
      columns: [
        { title: "Own [s]", width: "7em", number: true, cell: (i) => seconds(list[i][1], digits) },
        { title: "%", width: "4.5em", number: true, cell: (i) => percent(list[i][1], s.time) },
        { title: "", width: "7em", cell: (i) => bar(list[i][1] / s.time) },
        ...(line ? [] : [{ title: "All %", hint: "with what it calls", width: "5em", number: true, cell: (i: number) => percent(list[i][2], s.time) }]),
        { title: line ? "Line" : "Function", header: true, cell: (i: number) => (line ? el("a", { href: hash({ region: list[i][0], view: "source" }) }, p.regions[list[i][0]].place.replace(/ \('.*$/, "")) : regionLink(p.regions[list[i][0]])) },
        { title: line ? "Function" : "Place", cell: (i: number) => (line ? el("span", { title: p.regions[list[i][0]].name }, shortName(p.regions[list[i][0]].name)) : p.regions[list[i][0]].place.replace(/ \('.*$/, "")) },
      ],
    })];
  };
  return [
    note(`${count(s.count)} samples stand for ${time(s.time)} of ${time(s.processor)} of processor time. A thread that sleeps while it waits has none; one that spins while it waits has as many as one that works, in the functions of the OpenMP or MPI library. `, el("a", { href: hash({ view: "icicle", metric: "cpu", node: 0 }) }, "Call paths as icicle"), ", ", el("a", { href: hash({ view: "tree", metric: "cpu", node: 0 }) }, "as tree"), "."),
    heading("Whose code"), el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...["Code of", "Own [s]", "%", ""].map((t, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "number" : null }, t)))), el("tbody", {}, ...s.owners.map(([name, ns]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, seconds(ns, digits)), el("td", { class: "number" }, percent(ns, s.time)), el("td", { class: "wide" }, bar(ns / s.time)))))),
    ...rows("Functions", s.functions, false), ...rows("Loops", s.loops, true), ...rows("Lines", s.lines, true)];
}
