import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { heading, linked, note, report, reportTitle } from "../parts";

const SHOWN = ["general", "summary", "coverage", "caution", "ideal", "whatif"]; /* that have views */

/** A line that is indented goes on with the one before. */
function whole(lines: string[]): string[] {
  const out: string[] = [];
  for (const line of lines) if (/^ {2}/.test(line) && out.length) out[out.length - 1] += " " + line.trim(); else if (line) out.push(line);
  return out;
}

export function coverage(p: Profile): Child[] {
  return [note("What was not measured, or not as it should be."),
    el("ul", { class: "lines" }, ...whole(report(p.raw.sections.coverage)).map((l) => el("li", {}, ...linked(p, l)))),
    ...Object.entries(p.raw.sections).filter(([key, lines]) => !SHOWN.includes(key) && report(lines).some((l) => l))
      .flatMap(([key, lines]) => [heading(reportTitle(lines).replace(/^ompp /, "") || key), el("pre", {}, ...report(lines).flatMap((l) => [...linked(p, l), "\n"]))])];
}
