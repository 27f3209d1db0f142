import type { Profile } from "../data";
import { el, type Child } from "../dom";
import { time } from "../format";
import { heading, linked, note, report, reportTitle } from "../parts";

const SHOWN = ["general", "summary", "coverage", "caution", "ideal", "whatif"]; /* that have views; so has "outside", of all ranks, where there is MPI */

/** A line that is indented goes on with the one before. */
function whole(lines: string[]): string[] {
  const out: string[] = [];
  for (const line of lines) if (/^ {2}/.test(line) && out.length) out[out.length - 1] += " " + line.trim(); else if (line) out.push(line);
  return out;
}

/** What the page's shares are of; the text report has other sections. */
function shares(p: Profile): string {
  return `Percentages are of thread time, the time of all threads together (${time(p.basis)})${p.raw.samples ? `; of functions, and in the view Samples, of the processor time of the samples (${time(p.raw.samples.time)})` : ""}; `
    + "in the table of parallel regions (view Efficiency), and of losses in the view Regions, of the region's own thread time.";
}

/** Why shares of what measuring takes differ. */
const COSTS = "What measuring took stands here as a share of the time of all threads, in advice as a share of the time of its region, both from the cost of one event and how many there were. "
  + "The view Samples counts where the processor was: the functions of ompp itself are in it, what they slow down elsewhere is not.";

export function coverage(p: Profile): Child[] {
  const lines = whole(report(p.raw.sections.coverage)).filter((l) => !l.startsWith("% of "));
  const here = (line: string): string => line.replace(/the Overhead Analysis Report/g, "the table of parallel regions (view Efficiency)");
  return [note("What was not measured, or not as it should be."),
    el("ul", { class: "lines" }, ...lines.map((l) => el("li", {}, ...linked(p, l))), el("li", {}, shares(p)), lines.some((l) => l.startsWith("measuring took")) ? el("li", {}, COSTS) : ""),
    ...Object.entries(p.raw.sections).filter(([key, lines]) => !SHOWN.includes(key) && !(key === "outside" && p.raw.mpi) && report(lines).some((l) => l))
      .flatMap(([key, lines]) => [heading(reportTitle(lines).replace(/^ompp /, "") || key), el("pre", {}, ...report(lines).flatMap((l) => [...linked(p, here(l)), "\n"]))])];
}
