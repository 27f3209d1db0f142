import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { percent, time } from "../format";
import { largestLosses, lossText } from "../losses";
import { heading, linked, lossClass, regionLink, report, stack } from "../parts";
import { hash } from "../state";
import { lossLine } from "./advice";
import { gains } from "./whatif";

const FIRST = 3, LEAST_PART = 0.0005; /* of the time of all threads, that a legend names */

function split(p: Profile): Child {
  const e = p.raw.efficiency;
  if (!e) return "";
  const all = e.of[0].time, shown = e.parts.filter((part) => part.time >= LEAST_PART * all), left = e.parts.length - shown.length;
  return el("div", {}, heading("Where the threads' time goes"),
    stack(e.parts.map((part) => ({ kind: part.kind, part: part.time / all, title: `${part.name} ${percent(part.time, all)} %` }))),
    el("ul", { class: "legend" }, ...shown.map((part) => el("li", { title: part.meaning },
      el("span", { class: "key " + lossClass(part.kind), "aria-hidden": "true" }), `${part.name} `, el("b", {}, percent(part.time, all) + " %"), " " + time(part.time))),
    left ? el("li", { class: "note" }, el("a", { href: hash({ view: "efficiency" }) }, `${left} smaller part${left === 1 ? "" : "s"}`)) : ""));
}

function tiles(p: Profile): Child {
  const run = p.raw.efficiency?.of[0];
  if (!run || run.threads < 2) return "";
  return el("dl", { class: "tiles" }, ...run.ratios.filter((r) => r.level < 2).map((r) => el("div", { title: r.meaning }, el("dt", {}, r.name), el("dd", {}, r.value.toFixed(2)))));
}

/** The largest losses, with advice or without. */
function first(p: Profile): Child {
  const losses = largestLosses(p), most = losses.slice(0, FIRST), without = losses.slice(FIRST).filter((l) => !l.advice), sum = without.reduce((s, l) => s + l.lost, 0);
  if (!most.length) return "";
  return el("div", {}, heading("What to look at first"), el("ol", { class: "advice" }, ...most.map((l) => el("li", {},
    el("p", {}, el("b", {}, percent(l.lost, p.raw.basis) + " %"), ` ${time(l.lost)} `, ...lossLine(p, l)), el("p", { class: "note" }, ...linked(p, lossText(l)))))),
    el("p", {}, el("a", { href: hash({ view: "advice" }) }, "All advice"), without.length ? `; ${time(sum)} more (${percent(sum, p.raw.basis)} %) is lost in ${without.length} place${without.length === 1 ? "" : "s"} without advice: ` : "",
      without.length ? el("a", { href: hash({ view: "efficiency" }) }, "loss budget") : ""));
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

/** What the words of the report say and no picture below: the run, what was hottest, what measuring took. */
function words(p: Profile): Child[] {
  const lines = report(p.raw.sections.summary).filter((l) => l), whole = (l: string[]) => l.flatMap((line) => [...linked(p, line.replace("section ompp Coverage", "view Coverage")), "\n"]);
  const own = p.raw.efficiency ? lines.filter((l, i) => !i || /^(Hottest function|Measuring took|Not measured|No parallel region)/.test(l)) : lines;
  return [heading("In words"), el("pre", { class: "words" }, ...whole(own)), own.length < lines.length ? el("details", { class: "near" }, el("summary", {}, "As in the text report"), el("pre", { class: "words" }, ...whole(lines))) : ""];
}

export function summary(p: Profile): Child[] {
  const caution = report(p.raw.sections.caution), facts = report(p.raw.sections.general).map((line) => /^(.{1,28}?) *: ?(.*)$/.exec(line)).filter((m) => m && m[2] !== "not set");
  return [
    ...words(p),
    caution.length ? el("ul", { class: "caution" }, ...caution.filter((l) => l).map((l) => el("li", {}, l.replace(/ \(more in ompp Coverage.*$/, "")))) : "",
    tiles(p), split(p), first(p), faster(p),
    heading("The run"), el("table", { class: "facts" }, el("tbody", {}, ...facts.map((m) => el("tr", {}, el("th", { scope: "row" }, m![1]), el("td", {}, m![2]))))),
  ];
}
