// What is shown stands in the hash of the address: a link leads to the same view of the same region.

export interface State { view: string; region: number; metric: string; sort: string; q: string; node: number; column: string }

const empty: State = { view: "summary", region: -1, metric: "", sort: "", q: "", node: 0, column: "" };

export function read(): State {
  const words = new URLSearchParams(location.hash.slice(1));
  const number = (key: string, otherwise: number) => {
    const text = words.get(key);
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
  };
  return {
    view: words.get("view") ?? empty.view, region: number("region", -1), metric: words.get("metric") ?? "", sort: words.get("sort") ?? "",
    q: words.get("q") ?? "", node: number("node", 0), column: words.get("column") ?? "",
  };
}

/** The address of the same state with some changes. Another view or region begins at its own place. */
export function hash(changes: Partial<State>): string {
  const now = read(), next = { ...now, ...changes };
  if (changes.view !== undefined && changes.view !== now.view) Object.assign(next, { sort: "", q: "", ...changes });
  if (changes.region !== undefined && changes.region !== now.region) Object.assign(next, { node: 0, column: "", ...changes });
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(next)) if (value !== (empty as any)[key]) words.set(key, String(value));
  return "#" + words.toString();
}

export function go(changes: Partial<State>): void { location.hash = hash(changes); }

/** Without a new step of the history, and without drawing again. */
export function keep(changes: Partial<State>): void { history.replaceState(null, "", hash(changes)); }
