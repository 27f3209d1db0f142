// Numbers as people read them. Times are ns.

export type Unit = "ns" | "count" | "bytes";

/** Of any number of values; 0 of none. */
export const largest = (values: Iterable<number>): number => { let m = 0; for (const v of values) if (v > m) m = v; return m; };
export const smallest = (values: number[]): number => values.reduce((m, v) => (v < m ? v : m), values[0] ?? 0);

/** Every so manieth mark of an axis has a number: a round one, not less than this. */
export const everyMark = (least: number): number => { for (let ten = 1; ; ten *= 10) for (const n of [1, 2, 5]) if (n * ten >= least) return n * ten; };

/** Digits behind the point, for a column whose largest time this is. */
export function digitsFor(ns: number): number {
  const s = ns / 1e9;
  return s >= 1000 ? 1 : s >= 1 ? 3 : s >= 0.01 ? 4 : 6;
}

export const seconds = (ns: number, digits: number): string => (ns ? (ns / 1e9).toFixed(digits) : "0");

export const count = (n: number): string =>
  Number.isInteger(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f") : Number.isFinite(n) ? n.toPrecision(4) : "";

export function time(ns: number): string {
  const s = ns / 1e9;
  if (ns === 0) return "0 s";
  if (s >= 100) return s.toFixed(1) + " s";
  if (s >= 1) return s.toFixed(2) + " s";
  if (s >= 1e-3) return (s * 1e3).toFixed(s < 0.01 ? 2 : 1) + " ms";
  return (s * 1e6).toFixed(1) + " \u00b5s";
}

export function bytes(n: number): string {
  if (!n) return "0";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let u = 0;
  for (; n >= 9999.5 && u < 4; u++) n /= 1000;
  return (u ? n.toFixed(n < 100 ? 1 : 0) : String(n)) + " " + units[u];
}

export const percent = (part: number, all: number): string => (all > 0 ? ((100 * part) / all).toFixed(1) : "0.0");

export function value(n: number, unit: Unit, digits: number): string {
  return unit === "ns" ? seconds(n, digits) : unit === "bytes" ? bytes(n) : count(n);
}

export const words = (n: number, unit: Unit): string => (unit === "ns" ? time(n) : unit === "bytes" ? bytes(n) : count(n));

export const unitName = (unit: Unit): string => (unit === "ns" ? "s" : unit === "bytes" ? "bytes" : "");
