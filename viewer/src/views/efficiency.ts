import type { Efficiency, Profile } from "../data";
import { el, type Child } from "../dom";
import { digitsFor, largest, percent, seconds, time } from "../format";
import { budgetRows, type Row } from "../losses";
import { bar, heading, lossClass, note, regionLink, stack } from "../parts";
import { table } from "../table";
import { go, keep, read } from "../state";

const SMALL = 0.0005; /* of the time of all threads: rows that are folded */

function ratios(e: Efficiency): Child[] {
  return [heading("Efficiencies"), el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Efficiency"), el("th", { scope: "col", class: "number" }, "Value"), el("th", { scope: "col", class: "wide" }, ""), el("th", { scope: "col" }, "What it is"))),
    el("tbody", {}, ...e.ratios.map((r) => {
      const name = el("th", { scope: "row" }, r.name);
      name.style.paddingLeft = 8 + 18 * r.level + "px";
      return el("tr", {}, name, el("td", { class: "number" }, r.value.toFixed(3)), el("td", {}, bar(r.value, "work")), el("td", { class: "note" }, r.meaning));
    })))];
}

function parts(p: Profile): Child[] {
  const e = p.raw.efficiency!, all = e.of[0].time, digits = digitsFor(all), n = e.of[0].threads;
  return [heading(`The time of ${n} thread${n === 1 ? "" : "s"}`), el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, ...["Part", "Thread time [s]", "%", "", "Where"].map((t, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "number" : i === 3 ? "wide" : null }, t)))),
    el("tbody", {}, ...e.parts.map((part) => el("tr", {}, el("th", { scope: "row" }, el("span", { class: "key " + lossClass(part.kind), "aria-hidden": "true" }), part.name),
      el("td", { class: "number" }, seconds(part.time, digits)), el("td", { class: "number" }, percent(part.time, all)), el("td", {}, bar(part.time / all, part.kind)), el("td", { class: "note" }, part.meaning)))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "sum"), el("td", { class: "number" }, seconds(all, digits)), el("td", { class: "number" }, "100.0"), el("td"), el("td"))))];
}

/** Small rows are one row until they are asked for. */
function budget(p: Profile): Child[] {
  const e = p.raw.efficiency!, run = e.of[0], all = budgetRows(p), digits = digitsFor(run.time), selected = read().region, holder = el("div");
  if (!all.length) return [];
  const small = all.filter((r) => r.time < SMALL * run.time), rest = small.reduce((sum, r) => sum + r.time, 0);
  const show = (whole: boolean) => {
    const rows: Row[] = whole || small.length < 2 ? all : [...all.slice(0, all.length - small.length), { lost: -1, region: -1, rank: -1, time: rest, ofRank: 0 }];
    const name = (i: number) => (rows[i].lost < 0 ? `${small.length} smaller ones` : e.lost[rows[i].lost][1]);
    holder.replaceChildren(table({
      label: "Loss budget", sort: "-3", height: "44vh", rows: rows.map((_, i) => i), selected: (i) => rows[i].region >= 0 && rows[i].region === selected, open: (i) => { if (rows[i].region >= 0) go({ region: rows[i].region }); },
      columns: [
        { title: "Region", width: "6em", header: true, cell: (i) => (rows[i].lost < 0 ? "" : rows[i].region < 0 ? "the run" : regionLink(p.regions[rows[i].region])), sort: (i) => (rows[i].region < 0 ? 0 : p.regions[rows[i].region].number) },
        { title: "Lost to", width: "16em", cell: name, sort: name },
        { title: "Thread time [s]", hint: "of all threads together", width: "7em", number: true, cell: (i) => seconds(rows[i].time, digits), text: (i) => (rows[i].time / 1e9).toFixed(9), sort: (i) => rows[i].time },
        { title: "%", hint: "of the time of all threads", width: "4.5em", number: true, cell: (i) => percent(rows[i].time, run.time), sort: (i) => rows[i].time },
        { title: "", width: "7em", cell: (i) => bar(rows[i].time / (run.time - run.work), rows[i].lost < 0 ? "not-attributed" : e.lost[rows[i].lost][0]) },
        ...(p.raw.ranks > 1 ? [{ title: "Most on", width: "6em", cell: (i: number) => (rows[i].rank < 0 ? "" : `rank ${rows[i].rank}`), sort: (i: number) => rows[i].rank }] : []),
        { title: "Place", cell: (i) => (rows[i].lost < 0 ? el("button", { type: "button", class: "quiet", click: () => { keep({ q: "all" }); show(true); } }, "Show all rows") : rows[i].region < 0 ? "outside of regions" : `${p.regions[rows[i].region].type} ${p.regions[rows[i].region].place}`) },
      ],
    }));
  };
  show(read().q === "all");
  return [heading("Loss budget"), note(`What is not work: ${time(run.time - run.work)} of ${time(run.time)}, ${percent(run.time - run.work, run.time)} %. The rows add up to that.${p.raw.rest ? " It is of the ranks that are kept one by one." : ""}`), holder];
}

function userRegions(p: Profile): Child[] {
  const of = p.raw.efficiency!.of, names = of[0].ratios, digits = digitsFor(of[0].time), short = (r: { name: string; level: number }) => r.name.replace("Parallel efficiency", "Parallel").replace(" parallel efficiency", "").replace("Communication efficiency", "Comm.").replace("Load balance", "Balance");
  if (of.length < 2) return [];
  return [heading("User regions"), table({
    label: "Efficiencies of user regions", height: "44vh", rows: of.map((_, i) => i).slice(1), selected: (i) => of[i].region === read().region, open: (i) => go({ region: of[i].region! }),
    columns: [
      { title: "Region", width: "6em", header: true, cell: (i) => regionLink(p.regions[of[i].region!]) },
      { title: "Place", cell: (i) => p.regions[of[i].region!].place },
      { title: "Thread time [s]", hint: "of its threads", width: "7em", number: true, cell: (i) => seconds(of[i].time, digits), sort: (i) => of[i].time },
      ...names.map((r, k) => ({ title: short(r), hint: r.name + ": " + r.meaning, width: "6em", number: true, cell: (i: number) => of[i].ratios[k]?.value.toFixed(2) ?? "", sort: (i: number) => of[i].ratios[k]?.value ?? 0 })),
    ],
  })];
}

export function efficiency(p: Profile): Child[] {
  const e = p.raw.efficiency, o = p.raw.overheads, selected = read().region, out: Child[] = e ? [...ratios(e.of[0]), ...parts(p), ...budget(p), ...userRegions(p)] : [];
  out.push(heading("Parallel regions"));
  if (!o.regions.length) return [...out, note("No parallel region was executed.")];
  const digits = digitsFor(largest(o.regions.map((r) => r.total)));
  out.push(note(`Losses of the ${o.regions.length} parallel regions, with what lies in them${p.regions.some((r) => r.type.includes("TASK")) ? ", but without what making tasks takes, and without the waits of taskwait and taskgroup" : ""}: of all threads, and in percent of the region's own thread time. Together they cover ${time(o.coverage)} of ${time(p.raw.duration)}.`), table({
    label: "Overheads of parallel regions", sort: "-5", rows: o.regions.map((_, i) => i), selected: (i) => o.regions[i].region === selected, open: (i) => go({ region: o.regions[i].region }),
    columns: [
      { title: "Region", width: "5.5em", header: true, cell: (i) => regionLink(p.regions[o.regions[i].region]), sort: (i) => p.regions[o.regions[i].region].number },
      { title: "Place", cell: (i) => p.regions[o.regions[i].region].place, sort: (i) => p.regions[o.regions[i].region].place },
      { title: "Wallclock [s]", width: "8em", number: true, cell: (i) => seconds(o.regions[i].wall, digits), sort: (i) => o.regions[i].wall },
      { title: "Thread time [s]", width: "8em", number: true, hint: "wallclock x threads", cell: (i) => seconds(o.regions[i].total, digits), sort: (i) => o.regions[i].total },
      { title: "Lost [s]", width: "7em", number: true, cell: (i) => seconds(o.regions[i].lost, digits), sort: (i) => o.regions[i].lost },
      { title: "%", width: "4.5em", number: true, cell: (i) => percent(o.regions[i].lost, o.regions[i].total), sort: (i) => o.regions[i].lost / (o.regions[i].total || 1) },
      ...o.classes.map((title, c) => ({ title, width: "6em", number: true, cell: (i: number) => seconds(o.regions[i].classes[c], digits), sort: (i: number) => o.regions[i].classes[c] })).filter((_, c) => o.sum[0].classes[c] > 0),
      { title: "Share", width: "8em", cell: (i) => stack(o.regions[i].classes.map((ns, c) => ({ kind: o.classes[c], part: ns / (o.regions[i].total || 1), title: `${o.classes[c]} ${percent(ns, o.regions[i].total)} %` }))) },
    ],
  }));
  return out;
}
