// What the run loses, the largest first: what has advice with that, and what the loss budget has besides.
import type { Advice, Profile } from "./data";

/** A row of the loss budget: kind (of raw.efficiency.lost), region (-1: none), the rank that loses most. */
export interface Row { lost: number; region: number; rank: number; time: number; ofRank: number }
export interface Loss { lost: number; kind: string; region?: number; advice?: Advice; row?: Row }

export const LEAST = 0.001; /* of the time of all threads: what is listed */

/** Of one region what it loses to one thing is one row, on whichever call path it is. */
export function budgetRows(p: Profile): Row[] {
  const rows = new Map<string, Row>();
  for (const [lost, region, rank, time, ofRank] of p.raw.efficiency?.losses ?? []) {
    const key = `${lost} ${region}`, row = rows.get(key);
    if (!row) rows.set(key, { lost, region, rank, time, ofRank });
    else {
      row.time += time;
      if (row.rank === rank) row.ofRank += ofRank;
      else if (ofRank > row.ofRank) [row.rank, row.ofRank] = [rank, ofRank];
    }
  }
  return [...rows.values()].sort((a, b) => b.time - a.time);
}

const isTasks = (a: Advice): boolean => /^TasksToo/.test(a.name);
const WAITS = ["imbalance", "limited-parallelism", "synchronisation"];

/** Whether the advice is about this row. ofRegion: all that the row's region loses. */
function isAbout(p: Profile, a: Advice, row: Row, kind: string, ofRegion: number): boolean {
  if (isTasks(a) && row.region >= 0)
    return p.regions[row.region].type.startsWith("TASK") || (WAITS.includes(kind) && !!p.table.get(row.region)?.some((c) => c.title === "taskT" && c.sum[0] > 0));
  if (a.region === undefined) return kind === "serial";
  if (a.region !== row.region) return false;
  if (kind.startsWith("mpi")) return kind === "mpi-wait" || kind === "mpi" || a.lost >= 0.9 * ofRegion;
  if (kind === "management") return /^(ThreadManagement|ChunksTooSmall)$/.test(a.name);
  return WAITS.includes(kind) && !/^(ThreadManagement|ChunksTooSmall)$/.test(a.name);
}

let known: { of: Profile; losses: Loss[] } | undefined;

/** Advice, and the rows that no advice is about. */
export function largestLosses(p: Profile): Loss[] {
  if (known?.of === p) return known.losses;
  const rows = budgetRows(p), sums = new Map<number, number>(), of = new Map<number | undefined, Advice[]>(), kinds = new Map<Advice, string>();
  for (const r of rows) sums.set(r.region, (sums.get(r.region) ?? 0) + r.time);
  for (const a of p.raw.advice) of.set(a.region, [...(of.get(a.region) ?? []), a]);
  const anywhere = p.raw.advice.filter((a) => isTasks(a) || a.region === undefined);
  const without = rows.filter((row) => {
    const kind = p.raw.efficiency!.lost[row.lost][0], about = [...(of.get(row.region) ?? []), ...anywhere].filter((a) => isAbout(p, a, row, kind, sums.get(row.region)!));
    for (const a of about) if (!kinds.has(a)) kinds.set(a, kind);
    return !about.length && kind !== "mpi-start" && row.time >= LEAST * p.raw.basis; /* the program cannot mend its start */
  });
  const otherwise = (a: Advice) => (a.region === undefined ? "serial" : p.regions[a.region].type === "MPI" ? "mpi" : "imbalance");
  const losses = [
    ...p.raw.advice.map((a): Loss => ({ lost: a.lost, kind: kinds.get(a) ?? otherwise(a), region: a.region, advice: a })),
    ...without.map((row): Loss => ({ lost: row.time, kind: p.raw.efficiency!.lost[row.lost][0], region: row.region < 0 ? undefined : row.region, row })),
  ].sort((a, b) => b.lost - a.lost);
  known = { of: p, losses };
  return losses;
}

export const lossName = (p: Profile, l: Loss): string => l.advice?.name ?? p.raw.efficiency!.lost[l.row!.lost][1];

export const lossText = (l: Loss): string => l.advice?.text
  ?? (l.kind === "ended" ? "Ranks are done while the last one still runs: the table of ranks in the view MPI has the wallclock of each." : "No advice is about this loss.");
