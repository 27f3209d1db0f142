import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { percent, time } from "../format";
import { largestLosses, lossName, lossText, type Loss } from "../losses";
import { bar, linked, note, regionLink } from "../parts";
import { hash, read } from "../state";

const also = (text: string, changes: Parameters<typeof hash>[0]): Child => el("a", { class: "also", href: hash(changes) }, text);

/** What it is, where, and the views that show more of it. */
export function lossLine(p: Profile, l: Loss): Child[] {
  const r = l.region === undefined ? undefined : p.regions[l.region], cause = l.advice?.cause === undefined ? undefined : p.regions[l.advice.cause];
  const where = l.row && !r && l.kind === "ended" ? `most on rank ${l.row.rank}, ${time(l.row.ofRank)}` : `${p.raw.application}, outside of regions`;
  return [el("span", { class: "tag" }, lossName(p, l)), r ? regionLink(r) : "", ` ${r ? `${r.type} ${r.place}` : where}`,
    cause?.file ? also("source of the cause", { region: cause.id, view: "source" }) : "",
    ...(r ? [r.file ? also("source", { region: r.id, view: "source" }) : "", also("threads", { region: r.id, view: "threads" })]
      : p.raw.samples ? [cause?.file ? "" : also("source", { region: -1, view: "source" }), also("samples", { region: -1, view: "samples" }), also("call tree", { region: -1, view: "tree", metric: "cpu" })]
        : [also("call tree", { region: -1, view: "tree" })]), l.advice ? "" : also("loss budget", { view: "efficiency", ...(r ? { region: r.id } : {}) })];
}

export function advice(p: Profile): Child[] {
  const selected = read().region, losses = largestLosses(p), without = losses.filter((l) => !l.advice), sum = without.reduce((s, l) => s + l.lost, 0), n = p.raw.unlisted;
  const all = el("a", { href: hash({ view: "efficiency" }) }, "The loss budget");
  if (!losses.length) return [note("No performance property holds for more than 0.1 % of the threads' time.")];
  return [note("Losses of time, the largest first: their share of the time of all threads, where they are, and what to do."),
    el("ol", { class: "advice long" }, ...losses.map((l) =>
      el("li", { class: l.region !== undefined && l.region === selected ? "selected" : null },
        el("p", {}, el("b", { class: "severity" }, percent(l.lost, p.raw.basis) + " %"), el("span", { class: "severity" }, time(l.lost)), bar(l.lost / p.raw.basis, l.kind), ...lossLine(p, l)),
        el("p", { class: l.advice ? "what" : "what note" }, ...linked(p, lossText(l)))))),
    note(without.length ? `Of these losses, ${time(sum)} (${percent(sum, p.raw.basis)} %) in ${without.length} place${without.length === 1 ? "" : "s"} have no advice. ` : "", n ? `Advice on ${n} more loss${n === 1 ? "" : "es"}, below 0.1 % each, is not listed. ` : "", all, ` has all losses${p.raw.rest ? " of the ranks that are kept one by one" : ""}; they add up.`)];
}
