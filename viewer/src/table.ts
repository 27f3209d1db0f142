// A table of any length: only the rows that can be seen are elements. Sorted by its headings, copied as text with tabs.
import { el, type Child } from "./dom";
import { go, keep, read } from "./state";

const ROW = 24, MARGIN = 12;

export interface TableColumn {
  title: string; hint?: string; width?: string; least?: number; number?: boolean; /* width in em; least: of a column without one */
  cell: (row: number) => Child; text?: (row: number) => string; sort?: (row: number) => number | string; header?: boolean;
}

export interface TableOptions {
  label: string; columns: TableColumn[]; rows: number[]; selected?: (row: number) => boolean; open?: (row: number) => void;
  sort?: string; height?: string; reveal?: number; tree?: { level: (row: number) => number; expanded: (row: number) => boolean | null; toggle: (row: number, open: boolean) => void };
}

const plain = (child: Child): string => (child instanceof Node ? child.textContent ?? "" : child || "");

/** "3" or "-3": by the column of that number, ascending or descending. */
function order(rows: number[], columns: TableColumn[], by: string): number[] {
  const key = columns[Math.abs(parseInt(by, 10)) - 1]?.sort, sign = by.startsWith("-") ? -1 : 1;
  if (!key) return rows;
  const keys = new Map(rows.map((r) => [r, key(r)]));
  return [...rows].sort((a, b) => {
    const x = keys.get(a)!, y = keys.get(b)!;
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en"));
  });
}

/** So that its heading has room, too. */
const widthOf = (c: TableColumn): number => Math.max(c.width ? parseFloat(c.width) : c.least ?? 14, c.title.length * 0.66 + (c.title ? 1.3 : 0) + (c.sort ? 0.8 : 0));

export function table(o: TableOptions): HTMLElement {
  const by = read().sort || o.sort || "", rows = o.tree ? o.rows : order(o.rows, o.columns, by);
  const body = el("tbody");
  const box = el("div", { class: "rows", tabindex: 0, role: "group", "aria-label": o.label + ", scrolls" });
  let focus = o.reveal !== undefined ? Math.max(0, rows.indexOf(o.reveal)) : 0, first = -1, last = -1;

  const heading = (c: TableColumn, i: number) => {
    const number = i + 1, sorted = Math.abs(parseInt(by, 10)) === number, down = by.startsWith("-");
    const next = sorted ? (down ? String(number) : "-" + number) : (c.number ? "-" : "") + number;
    const inside: Child = c.sort && !o.tree
      ? el("button", { type: "button", title: c.hint, click: () => go({ sort: next }) }, c.title, sorted && el("span", { "aria-hidden": "true" }, down ? "\u2193" : "\u2191"))
      : el("span", { title: c.hint }, c.title);
    return el("th", { scope: "col", class: c.number ? "number" : null, "aria-sort": sorted ? (down ? "descending" : "ascending") : null }, inside);
  };

  const make = (i: number) => {
    const row = rows[i], open = o.tree?.expanded(row);
    const cells = o.columns.map((c) => {
      const inside = c.cell(row);
      return el(c.header ? "th" : "td", { class: c.number ? "number" : null, scope: c.header ? "row" : null, title: typeof inside === "string" && inside.length > 12 ? inside : null }, inside);
    });
    return el("tr", {
      "aria-rowindex": i + 2, "aria-level": o.tree ? o.tree.level(row) + 1 : null, "aria-expanded": open === null || open === undefined ? null : String(open),
      "aria-selected": o.selected?.(row) ? "true" : null, class: [o.selected?.(row) && "selected", i === focus && o.open && "focus"].filter(Boolean).join(" ") || null,
      click: (e: MouseEvent) => { if (!(e.target as Element).closest("a, button") && !getSelection()?.toString()) { focus = i; o.open?.(row); } },
    }, ...cells);
  };

  const gap = (n: number) => {
    const cell = el("td", { colspan: o.columns.length });
    cell.style.height = n * ROW + "px";
    return el("tr", { class: "gap", "aria-hidden": "true" }, cell);
  };
  const show = (force: boolean) => {
    const from = Math.max(0, Math.floor(box.scrollTop / ROW) - MARGIN), to = Math.min(rows.length, from + Math.ceil((box.clientHeight || 800) / ROW) + 2 * MARGIN);
    if (!force && from === first && to === last) return;
    [first, last] = [from, to];
    body.replaceChildren(...(from ? [gap(from)] : []), ...Array.from({ length: to - from }, (_, k) => make(from + k)), ...(to < rows.length ? [gap(rows.length - to)] : []));
  };

  const reveal = () => {
    const top = focus * ROW, view = box.clientHeight - ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top > box.scrollTop + view - ROW) box.scrollTop = top - view + ROW;
  };

  box.addEventListener("scroll", () => show(false), { passive: true });
  box.addEventListener("keydown", (event: KeyboardEvent) => {
    if (event.target !== box || !rows.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 2), steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    if (!o.open) return;
    if (event.key in steps) focus = Math.min(rows.length - 1, Math.max(0, focus + steps[event.key]));
    else if (event.key === "Enter" || event.key === " ") o.open(rows[focus]);
    else if (o.tree && (event.key === "ArrowRight" || event.key === "ArrowLeft")) o.tree.toggle(rows[focus], event.key === "ArrowRight");
    else return;
    event.preventDefault();
    reveal();
    show(true);
  });

  const whole = el("table", { role: o.tree ? "treegrid" : null, "aria-rowcount": rows.length + 1, "aria-label": o.label },
    el("colgroup", {}, ...o.columns.map((c) => { const col = el("col"); if (c.width) col.style.width = widthOf(c) + "em"; return col; })),
    el("thead", {}, el("tr", {}, ...o.columns.map(heading))), body);
  whole.style.minWidth = o.columns.reduce((sum, c) => sum + widthOf(c), 0) + "em";
  box.append(whole);
  if (o.height) box.style.maxHeight = o.height;
  show(true);
  let placed = o.reveal === undefined || !focus;
  new ResizeObserver(() => {
    if (!placed && box.clientHeight) { placed = true; box.scrollTop = Math.max(0, focus * ROW - box.clientHeight / 3); }
    show(true);
  }).observe(box);

  const copy = el("button", { type: "button", class: "quiet", click: async () => {
    const lines = rows.map((r) => o.columns.map((c) => (c.text ? c.text(r) : plain(c.cell(r))).replace(/[\t\n]/g, " ")).join("\t"));
    const text = [o.columns.map((c) => c.title).join("\t"), ...lines].join("\n");
    try { await navigator.clipboard.writeText(text); } catch { copyBySelection(text); }
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy table"), 1500);
  } }, "Copy table");
  return el("div", { class: "table" }, box, el("p", { class: "under" }, `${rows.length} ${rows.length === 1 ? "row" : "rows"}`, copy));
}

/** Pages from a disk may not have the clipboard. */
function copyBySelection(text: string): void {
  const area = el("textarea", { class: "away", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** A field that filters what is below it. */
export function search(label: string, change: (text: string) => void): HTMLElement {
  const input = el("input", { type: "search", placeholder: label, "aria-label": label, value: read().q, spellcheck: "false" });
  input.addEventListener("input", () => { keep({ q: input.value }); change(input.value); });
  return input;
}
