// What several views show: links to regions, bars, choices, text of the report.
import type { Measure, Profile, Region } from "./data";
import { el, type Child } from "./dom";
import { percent, time } from "./format";
import { hash } from "./state";

/** Names of templates without their arguments; the whole name stands in titles. */
export function shortName(name: string): string {
  if (name.length < 40 || !/[<(]/.test(name)) return name;
  let out = "", depth = 0;
  for (const c of name.replace(/operator(<<?=?>?|>>?=?|->\*?|\(\))/g, (w) => w.replace(/</g, "\u0001").replace(/>/g, "\u0002").replace(/\(/g, "\u0003").replace(/\)/g, "\u0004"))) {
    if (c === "<" || c === "(") { if (!depth++) out += c + "\u2026"; }
    else if (c === ">" || c === ")") { if (depth && !--depth) out += c; }
    else if (!depth) out += c;
  }
  return out.replace(/[\u0001-\u0004]/g, (c) => "<>()"[c.charCodeAt(0) - 1]);
}

export const lossClass = (title: string): string => "c-" + title.toLowerCase().replace(/[^a-z]/g, "");

/** Stays in the view. */
export function regionLink(r: Region | undefined, text?: string, view?: string): Child {
  if (!r) return "";
  return el("a", { href: hash(view ? { region: r.id, view } : { region: r.id }), title: `${r.type} ${r.place}${r.isPath ? " " + r.name : ""}` }, text ?? shortName(r.label));
}

/** A bar of parts; what they are stands beside it as text. */
export function stack(parts: { kind: string; part: number; title: string }[]): HTMLElement {
  const bar = el("span", { class: "stack", "aria-hidden": "true" });
  for (const { kind, part, title } of parts) {
    if (!(part > 0)) continue;
    const piece = el("span", { class: lossClass(kind), title });
    piece.style.width = Math.min(100, 100 * part) + "%";
    bar.append(piece);
  }
  return bar;
}

export function bar(part: number, kind = "bar"): HTMLElement {
  return stack([{ kind, part: Math.max(0, Math.min(1, part)), title: (100 * part).toFixed(1) + " %" }]);
}

/** losses: in the order of p.losses. */
export function lossStack(p: Profile, losses: number[], all: number): HTMLElement {
  return stack(losses.map((ns, i) => ({ kind: p.losses[i].kind, part: all > 0 ? ns / all : 0, title: `${p.losses[i].title} ${time(ns)} (${percent(ns, all)} %)` })));
}

export function select(label: string, options: [value: string, text: string][], chosen: string, change: (value: string) => void): HTMLElement {
  const box = el("select", { change: () => change(box.value) }, ...options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  return el("label", { class: "choice" }, label + " ", box);
}

/** A run with samples alone has nothing else. */
export function chosenMeasure(p: Profile, key: string): Measure {
  return p.measures.find((m) => m.key === key) ?? p.measures.find((m) => p.tree.n === 1 && m.key === "cpu") ?? p.measures[0];
}

/** Lines of the text report, without the frame of their title. */
export function report(lines: string[] | undefined): string[] {
  if (!lines) return [];
  return /^-{20,}$/.test(lines[0] ?? "") ? lines.slice(3) : lines;
}

export const reportTitle = (lines: string[] | undefined): string => /^-{4} +(.*?) +-*$/.exec(lines?.[1] ?? "")?.[1] ?? "";

let named: { of: Profile; regions: Map<string, Region> } | undefined;

/** Executed regions by number, and by what texts call them. */
function called(p: Profile, text: string): Region | undefined {
  if (named?.of !== p) {
    named = { of: p, regions: new Map() };
    for (const r of p.regions)
      if (!r.isPath && r.nodes) for (const name of ["R" + String(r.number).padStart(5, "0"), `${r.type} ${r.place}`]) if (!named.regions.has(name)) named.regions.set(name, r);
  }
  return named.regions.get(text);
}

/** "R00012" and "PARALLEL LOOP a.c (5-6)" in a text become links. */
export function linked(p: Profile, text: string): Child[] {
  return text.split(/(R\d{5,}|\b[A-Z][A-Z ]+ \S+ \(\d+(?:-\d+)?\)(?: \('[^']*'\))?)/).map((word) => {
    const region = called(p, word);
    return region ? regionLink(region, word) : word;
  });
}

/** The end of a long name tells as much as its begin. */
export const middle = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, Math.ceil((most - 1) / 2)) + "\u2026" + text.slice(text.length - Math.floor((most - 1) / 2));

/** The name of a file shrinks where there is little room, its lines do not. */
export function placed(place: string): HTMLElement {
  const parts = /^(.*?)( \(\d+(?:-\d+)?\))(.*)$/.exec(place);
  return el("span", { class: "at", title: place }, ...(parts ? [el("span", {}, parts[1]), el("b", {}, parts[2]), el("span", {}, parts[3])] : [el("span", {}, place)]));
}

export const note = (...children: Child[]): HTMLElement => el("p", { class: "note" }, ...children);

export const heading = (text: string): HTMLElement => el("h2", {}, text);
