import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { percent, time } from "../format";
import { heading, linked, lossClass, regionLink, report, stack } from "../parts";
import { hash } from "../state";
import { gains } from "./whatif";

function split(p: Profile): Child {
  const e = p.raw.efficiency;
  if (!e) return "";
  const all = e.of[0].time;
  return el("div", {}, heading("Where the threads' time goes"),
    stack(e.parts.map((part) => ({ kind: part.kind, part: part.time / all, title: `${part.name} ${percent(part.time, all)} %` }))),
    el("ul", { class: "legend" }, ...e.parts.map((part) => el("li", { title: part.meaning },
      el("span", { class: "key " + lossClass(part.kind), "aria-hidden": "true" }), `${part.name} `, el("b", {}, percent(part.time, all) + " %"), " " + time(part.time)))));
}

function tiles(p: Profile): Child {
  const run = p.raw.efficiency?.of[0];
  if (!run || run.threads < 2) return "";
  return el("dl", { class: "tiles" }, ...run.ratios.filter((r) => r.level < 2).map((r) => el("div", { title: r.meaning }, el("dt", {}, r.name), el("dd", {}, r.value.toFixed(2)))));
}

function first(p: Profile): Child {
  const most = p.raw.advice.slice(0, 3);
  if (!most.length) return "";
  return el("div", {}, heading("What to look at first"), el("ol", { class: "advice" }, ...most.map((a) => el("li", {},
    el("p", {}, el("b", {}, percent(a.lost, p.raw.basis) + " %"), ` ${time(a.lost)} `, el("span", { class: "tag" }, a.name), " ",
      a.region === undefined ? p.raw.application : regionLink(p.regions[a.region]), " ", a.region === undefined ? "" : `${p.regions[a.region].type} ${p.regions[a.region].place}`),
    el("p", { class: "note" }, ...linked(p, a.text))))),
    el("p", {}, el("a", { href: hash({ view: "advice" }) }, "All advice")));
}

/** Where it was measured. */
function faster(p: Profile): Child {
  const best = gains(p);
  if (!best.length) return "";
  return el("div", {}, heading("What the program would gain"), el("ul", { class: "lines" }, ...best.map(({ result: r, gain: g }) => el("li", {},
    el("b", {}, (100 * g.gain).toFixed(1) + " %"), g.chance ? " (may be chance)" : g.low !== undefined ? ` (${(100 * g.low).toFixed(1)} to ${(100 * g.high!).toFixed(1)})` : "", ` if it were ${(100 * g.speedup).toFixed(0)} % faster: `,
    r.region === undefined ? p.raw.whatif!.outside : regionLink(p.regions[r.region]), r.region === undefined ? "" : ` ${p.regions[r.region].type} ${p.regions[r.region].place}`))),
    el("p", {}, el("a", { href: hash({ view: "whatif" }) }, "All regions that were followed")));
}

export function summary(p: Profile): Child[] {
  const caution = report(p.raw.sections.caution), facts = report(p.raw.sections.general).map((line) => /^(.{1,28}?) *: ?(.*)$/.exec(line)).filter((m) => m && m[2] !== "not set");
  return [
    heading("In words"), el("pre", { class: "words" }, ...report(p.raw.sections.summary).flatMap((line) => [...linked(p, line), "\n"])),
    caution.length ? el("ul", { class: "caution" }, ...caution.filter((l) => l).map((l) => el("li", {}, l.replace(/ \(more in ompp Coverage.*$/, "")))) : "",
    tiles(p), split(p), first(p), faster(p),
    heading("The run"), el("table", { class: "facts" }, el("tbody", {}, ...facts.map((m) => el("tr", {}, el("th", { scope: "row" }, m![1]), el("td", {}, m![2]))))),
  ];
}
