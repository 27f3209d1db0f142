import type { Profile } from "../data";
import { type Child } from "../dom";
import { bytes, count, digitsFor, largest, percent, seconds } from "../format";
import { bar, heading, note, placed, regionLink } from "../parts";
import { table, type TableColumn } from "../table";
import { go, read } from "../state";
import { matrix } from "./matrix";

/** Sums of the MPI calls' columns by rank. */
function byRank(p: Profile): Map<number, Map<string, number>> {
  const ranks = new Map<number, Map<string, number>>();
  for (const { region, columns } of p.raw.tables) {
    if (p.regions[region].type !== "MPI") continue;
    for (const c of columns)
      c.rows?.forEach((v, i) => {
        const rank = p.raw.locations[i][0];
        if (!v || rank < 0) return;
        let sums = ranks.get(rank);
        if (!sums) ranks.set(rank, (sums = new Map()));
        sums.set(c.title, (sums.get(c.title) ?? 0) + v);
      });
  }
  return ranks;
}

export function messages(p: Profile): Child[] {
  const calls = p.listed.filter((r) => r.type === "MPI" && r.nodes), selected = read().region;
  if (!calls.length) return [note("No MPI call was measured.")];
  const shown = p.measures.filter((m) => m.tree === p.tree && m.all.some((v) => v > 0) && /^(inV|outV|recvC|sendC|collC)$/.test(m.title)), digits = digitsFor(largest(calls.map((r) => r.time)));
  const per = new Map(shown.map((m) => [m.title, p.perRegion(m)]));
  const names: Record<string, string> = { inV: "Received", outV: "Sent", recvC: "Receives", sendC: "Sends", collC: "Collectives" };
  const numbers = (of: (i: number, title: string) => number): TableColumn[] => shown.map((m) => ({
    title: names[m.title], hint: m.meaning, width: m.unit === "bytes" ? "6.5em" : "5em", number: true, cell: (i) => (m.unit === "bytes" ? bytes(of(i, m.title)) : count(of(i, m.title))), text: (i) => String(of(i, m.title)), sort: (i) => of(i, m.title),
  }));
  const ranks = byRank(p), most = largest(p.raw.rank.map((r) => r.duration)) || 1, rankDigits = digitsFor(most);
  return [
    heading("Calls"), table({
      label: "MPI calls", sort: "-4", rows: calls.map((r) => r.id), selected: (i) => i === selected, open: (i) => go({ region: i }), height: "45vh",
      columns: [
        { title: "Region", width: "6em", header: true, cell: (i) => regionLink(p.regions[i]), sort: (i) => p.regions[i].number },
        { title: "Call", width: "10em", cell: (i) => p.regions[i].name, sort: (i) => p.regions[i].name },
        { title: "Place", least: 13, cell: (i) => placed(p.regions[i].place.replace(/ \('.*'\)$/, "")), text: (i) => p.regions[i].place, sort: (i) => p.regions[i].place },
        { title: "Time [s]", hint: "of all threads together", width: "6.5em", number: true, cell: (i) => seconds(p.regions[i].time, digits), sort: (i) => p.regions[i].time },
        { title: "%", hint: "of the time of all threads", width: "4.5em", number: true, cell: (i) => percent(p.regions[i].time, p.basis), sort: (i) => p.regions[i].time },
        { title: "Calls", width: "5em", number: true, cell: (i) => count(p.regions[i].count), sort: (i) => p.regions[i].count },
        ...numbers((i, title) => per.get(title)?.get(i) ?? 0),
      ],
    }),
    ...matrix(p),
    heading("Ranks"), note("Wallclock of each rank in seconds, as its first thread sees it: in parallel regions, in MPI outside them, and alone."), table({
      label: "Ranks", rows: p.raw.rank.map((_, i) => i), height: "45vh",
      columns: [
        { title: "Rank", width: "5em", header: true, cell: (i) => String(p.raw.rank[i].rank) },
        { title: "Host", least: 7, cell: (i) => p.raw.rank[i].host },
        { title: "Threads", width: "5em", number: true, cell: (i) => String(p.raw.rank[i].threads) },
        ...(["duration", "parallel", "mpi", "serial"] as const).map((key) => ({ title: { duration: "Wallclock", parallel: "Parallel", mpi: "MPI", serial: "Alone" }[key], hint: "s", width: "5em", number: true, cell: (i: number) => seconds(p.raw.rank[i][key], rankDigits) })),
        { title: "", width: "5em", cell: (i) => bar(p.raw.rank[i].mpi / most, "mpi") },
        ...numbers((i, title) => ranks.get(p.raw.rank[i].rank)?.get(title) ?? 0).map((c) => ({ ...c, sort: undefined })),
      ],
    }),
    p.raw.rest ? note(`${p.raw.rest} more ranks are one sum in the profile (OMPP_RANK_DETAIL).`) : "",
  ];
}
