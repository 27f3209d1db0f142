// Elements are made of text only: nothing of a profile is ever read as HTML.

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  element.append(...children.filter((c): c is Node | string => !!c));
  return element;
}

/** A colour of style.css. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/** A canvas that fills its parent in width, drawn anew when that changes. */
export function canvas(height: () => number, draw: (c: CanvasRenderingContext2D, width: number, height: number) => void, attributes: Attributes) {
  const element = el("canvas", { tabindex: 0, ...attributes });
  const box = el("div", { class: "canvas" }, element);
  const paint = () => {
    const width = box.clientWidth, tall = height(), scale = window.devicePixelRatio || 1;
    if (!width) return;
    element.width = Math.round(width * scale);
    element.height = Math.round(tall * scale);
    element.style.width = width + "px";
    element.style.height = tall + "px";
    const context = element.getContext("2d");
    if (!context) return;
    context.scale(scale, scale);
    context.font = "12px " + getComputedStyle(document.body).fontFamily;
    draw(context, width, tall);
  };
  new ResizeObserver(paint).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  return { box, element, paint };
}
