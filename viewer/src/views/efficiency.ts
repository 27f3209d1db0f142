import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { digitsFor, largest, percent, seconds, time } from "../format";
import { bar, heading, note, regionLink, stack } from "../parts";
import { table } from "../table";
import { go, read } from "../state";

export function efficiency(p: Profile): Child[] {
  const e = p.raw.efficiency, o = p.raw.overheads, selected = read().region, out: Child[] = [];
  if (e) {
    const digits = digitsFor(e.time);
    out.push(heading("Efficiencies"), el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Efficiency"), el("th", { scope: "col", class: "number" }, "Value"), el("th", { scope: "col", class: "wide" }, ""), el("th", { scope: "col" }, "What it is"))),
      el("tbody", {}, ...e.ratios.map((r) => {
        const name = el("th", { scope: "row" }, r.name);
        name.style.paddingLeft = 8 + 18 * r.level + "px";
        return el("tr", {}, name, el("td", { class: "number" }, r.value.toFixed(3)), el("td", {}, bar(r.value, "work")), el("td", { class: "note" }, r.meaning));
      }))));
    out.push(heading(`The time of ${e.threads} thread${e.threads === 1 ? "" : "s"}`), el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, ...["Part", "Time [s]", "%", "", "What it is"].map((t, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "number" : i === 3 ? "wide" : null }, t)))),
      el("tbody", {}, ...e.parts.map((part) => el("tr", {}, el("th", { scope: "row" }, el("span", { class: "key c-" + part.kind.toLowerCase(), "aria-hidden": "true" }), part.name),
        el("td", { class: "number" }, seconds(part.time, digits)), el("td", { class: "number" }, percent(part.time, e.time)), el("td", {}, bar(part.time / e.time, part.kind)), el("td", { class: "note" }, part.meaning)))),
      el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "sum"), el("td", { class: "number" }, seconds(e.time, digits)), el("td", { class: "number" }, "100.0"), el("td"), el("td")))));
  }
  out.push(heading("Parallel regions"));
  if (!o.regions.length) return [...out, note("No parallel region was executed.")];
  const digits = digitsFor(largest(o.regions.map((r) => r.total)));
  out.push(note(`Losses of the ${o.regions.length} parallel regions, with what lies in them: of all threads, and in percent of the region's own thread time. Together they cover ${time(o.coverage)} of ${time(p.raw.duration)}.`), table({
    label: "Overheads of parallel regions", sort: "-5", rows: o.regions.map((_, i) => i), selected: (i) => o.regions[i].region === selected, open: (i) => go({ region: o.regions[i].region }),
    columns: [
      { title: "Region", width: "5.5em", header: true, cell: (i) => regionLink(p.regions[o.regions[i].region]), sort: (i) => p.regions[o.regions[i].region].number },
      { title: "Place", cell: (i) => p.regions[o.regions[i].region].place, sort: (i) => p.regions[o.regions[i].region].place },
      { title: "Wallclock [s]", width: "8em", number: true, cell: (i) => seconds(o.regions[i].wall, digits), sort: (i) => o.regions[i].wall },
      { title: "Total [s]", width: "8em", number: true, hint: "wallclock x threads", cell: (i) => seconds(o.regions[i].total, digits), sort: (i) => o.regions[i].total },
      { title: "Lost [s]", width: "7em", number: true, cell: (i) => seconds(o.regions[i].lost, digits), sort: (i) => o.regions[i].lost },
      { title: "%", width: "4.5em", number: true, cell: (i) => percent(o.regions[i].lost, o.regions[i].total), sort: (i) => o.regions[i].lost / (o.regions[i].total || 1) },
      ...o.classes.map((title, c) => ({ title, width: "6em", number: true, cell: (i: number) => seconds(o.regions[i].classes[c], digits), sort: (i: number) => o.regions[i].classes[c] })).filter((_, c) => o.sum[0].classes[c] > 0),
      { title: "Share", width: "8em", cell: (i) => stack(o.regions[i].classes.map((ns, c) => ({ kind: o.classes[c], part: ns / (o.regions[i].total || 1), title: `${o.classes[c]} ${percent(ns, o.regions[i].total)} %` }))) },
    ],
  }));
  return out;
}
