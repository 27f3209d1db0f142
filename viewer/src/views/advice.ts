import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { percent, time } from "../format";
import { bar, linked, note, regionLink } from "../parts";
import { hash, read } from "../state";

export function advice(p: Profile): Child[] {
  const selected = read().region, most = p.raw.advice[0]?.lost ?? 1;
  if (!p.raw.advice.length) return [note("No performance property holds for more than 0.1 % of the threads' time.")];
  return [note("Losses of time, the largest first: their share of the time of all threads, where they are, and what to do."),
    el("ol", { class: "advice long" }, ...p.raw.advice.map((a) => {
      const r = a.region === undefined ? undefined : p.regions[a.region];
      return el("li", { class: r && r.id === selected ? "selected" : null },
        el("p", {}, el("b", { class: "severity" }, percent(a.lost, p.raw.basis) + " %"), el("span", { class: "severity" }, time(a.lost)), bar(a.lost / most, "imbal"), el("span", { class: "tag" }, a.name), r ? regionLink(r) : "", ` ${r ? `${r.type} ${r.place}` : p.raw.application}`,
          r && r.file ? el("a", { class: "also", href: hash({ region: r.id, view: "source" }) }, "source") : "", r ? el("a", { class: "also", href: hash({ region: r.id, view: "threads" }) }, "threads") : ""),
        el("p", { class: "what" }, ...linked(p, a.text)));
    })), p.raw.unlisted ? note(`${p.raw.unlisted} more are below 0.1 % and not listed.`) : ""];
}
