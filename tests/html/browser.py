#!/usr/bin/env python3
"""
The page in a browser: every view shows what it should, the region that is chosen is in each, nothing is written to the console and nothing is
asked of the network; contrasts are those of WCAG AA in light and dark; names of a hostile profile stay text; large profiles open.
usage: browser.py [--keep-pictures DIRECTORY PAGE...]: pictures of every view of some pages.
"""

import base64
import os
import re
import sys

import chromium
import hostile
import page
from page import harness

VIEWS = ["summary", "advice", "efficiency", "regions", "tree", "icicle", "threads", "source", "data", "messages", "samples", "whatif", "coverage"]

# What a view of a golden profile shows: (profile, view, region, texts).
SHOWN = [
    ("mpi", "summary", -1, ["In words", "sec of thread time", "Parallel efficiency", "The run", "MPI num procs"]),
    ("mpi", "advice", -1, ["Losses of time", "%"]),
    ("mpi", "efficiency", -1, ["Load balance", "Parallel regions", "Imbal"]),
    ("mpi", "regions", 0, ["R00001", "Executions", "Copy table"]),
    ("mpi", "tree", 0, ["Call path", "MPI_", "mpi"]),
    ("mpi", "icicle", 0, ["Metric", "time per thread", "parallel regions"]),
    ("mpi", "threads", 0, ["execT", "SUM", "rank"]),
    ("mpi", "source", 0, ["solve.c", "not in the page", "Construct"]),
    ("mpi", "messages", 0, ["Received", "Wallclock", "node0"]),
    ("mpi", "whatif", -1, ["OMPP_CAUSAL=virtual"]),
    ("whatif", "whatif", -1, ["100 %", "R00007", "95 % interval", "not determined", "52.2"]),
    ("mpi", "coverage", -1, ["not measured"]),
]

# Ratio of each visible text and what stands behind it; less than 4.5 (3 for large text) is too little.
CONTRAST = """
(() => {
  const lum = (c) => c.slice(0, 3).map((v) => (v /= 255, v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const context = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const parse = (text) => {
    if (!known.has(text)) { context.clearRect(0, 0, 1, 1); context.fillStyle = text; context.fillRect(0, 0, 1, 1); known.set(text, [...context.getImageData(0, 0, 1, 1).data]); }
    return known.get(text);
  };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 250) return c; } return [255, 255, 255]; };
  const bad = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, style = getComputedStyle(e);
    if (!walk.currentNode.data.trim() || !e.getClientRects().length || style.visibility !== 'visible' || e.closest('.skip, svg, option')) continue;
    const a = lum(parse(style.color)), b = lum(behind(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) bad.add(`${e.tagName}.${e.className} ${style.color} ${ratio.toFixed(2)}`);
  }
  const root = getComputedStyle(document.documentElement), of = (n) => lum(parse(root.getPropertyValue('--' + n).trim()));
  const two = (x, y) => (Math.max(of(x), of(y)) + 0.05) / (Math.min(of(x), of(y)) + 0.05);
  for (const c of ['work', 'synch', 'imbal', 'limpar', 'mgmt', 'mpi', 'idle', 'bar', 'wait', 'transfer', 'small', 'rest', 'ended']) if (two('c-' + c, 'bg') < 3) bad.add(`colour ${c} on the page ${two('c-' + c, 'bg').toFixed(2)}`);
  for (const c of ['root', 'parallel', 'work', 'sync', 'mpi', 'user', 'function', 'part']) if (two('i-' + c, 'i-text') < 4.5) bad.add(`text in the icicle on ${c} ${two('i-' + c, 'i-text').toFixed(2)}`);
  for (const c of ['muted', 'link', 'ink']) if (two(c, 'bg') < 4.5) bad.add(`${c} on the page`);
  return [...bad];
})()
"""

# What makes a page usable without eyes or mouse.
ACCESS = """
(() => {
  const bad = [], main = document.querySelector('main');
  if (document.documentElement.lang !== 'en') bad.push('no language');
  for (const e of document.querySelectorAll('button, a, input, select')) {
    const name = e.getAttribute('aria-label') || e.textContent.trim() || e.getAttribute('title') || (e.labels && e.labels.length && e.labels[0].textContent);
    if (!name) bad.push('no name: ' + e.outerHTML.slice(0, 100));
  }
  for (const t of main.querySelectorAll('table')) if (!t.querySelector('th')) bad.push('a table without headings');
  for (const e of document.querySelectorAll('canvas, main svg')) if (!e.getAttribute('aria-label')) bad.push('a picture without words');
  if (document.querySelectorAll('nav [aria-current=page]').length !== 1) bad.push('no current view');
  if (document.documentElement.scrollWidth > innerWidth + 1) bad.push('wider than the window: ' + document.documentElement.scrollWidth);
  return bad;
})()
"""


def check_views(verdict, browser, pages):
    for name, view, region, texts in SHOWN:
        browser.open(pages[name], "view=" + view + ("&region=%d" % region if region >= 0 else ""))
        shown = browser.go("view=" + view + ("&region=%d" % region if region >= 0 else ""))
        for text in texts:
            verdict.check(text in shown, "%s, view %s: no '%s' in: %s" % (name, view, text, shown[:200]))
    for name in pages:
        links = browser.open(pages[name]) and browser.value("[...document.querySelectorAll('nav a')].map(a => a.hash)")
        for dark in (False, True):
            browser.dark(dark)
            for link in links:
                browser.go(link[1:] + "&region=0")
                label = "%s, %s%s" % (name, link, ", dark" if dark else "")
                verdict.equal(browser.value(CONTRAST), [], label + ": contrast")
                verdict.equal(browser.value(ACCESS), [], label + ": access")
                verdict.check(browser.value("!!document.querySelector('.chosen')"), label + ": the region is not there")
                verdict.check(browser.value("!!document.querySelector('#side a[href*=\"region=\"]')"), label + ": no list of regions")
        browser.dark(False)
        browser.size(360, 640)
        for link in links:
            browser.go(link[1:])
            verdict.equal(browser.value(ACCESS), [], "%s, %s, small" % (name, link))
        browser.size(1280, 800)


def check_colours(verdict):
    """Bars and keys have the colour of what time was lost to, in both modes."""
    with open(os.path.join(harness.SOURCE, "src", "analysis", "ompp_lost.def"), encoding="utf-8") as file:
        names = re.findall(r'^OMPP_LOST\(\w+, "([a-z-]+)"', file.read(), re.M)
    with open(os.path.join(harness.SOURCE, "viewer", "style.css"), encoding="utf-8") as file:
        style = file.read()
    verdict.check(len(names) > 8, "names of losses: %s" % names)
    for name in names:
        colour = re.search(r"\.c-%s\b[^{]*{ background: var\((--c-\w+)\)" % name.replace("-", ""), style)
        verdict.check(colour and style.count(colour.group(1) + ":") == 2, "style.css has no colour for " + name)


def check_data(verdict, scratch, browser):
    """Data structures, and what misses in simulated caches."""
    page.make(page.structures(scratch), scratch.file("data.html"))
    browser.open(scratch.file("data.html"), "view=data")
    shown = browser.go("view=data")
    for text in ("Structures", "grid", "mesh->density", "outside regions", "Caches, simulated", "L1 %"):
        verdict.check(text in shown, "view data: no '%s' in: %s" % (text, shown[:300]))
    verdict.equal(browser.value(ACCESS) + browser.value(CONTRAST), [], "view data: access and contrast")


def check_use(verdict, browser, path):
    """Choosing by click and by key, sorting, searching: each is in the address."""
    browser.open(path, "view=regions")
    browser.value("document.querySelector('#side li a').click()")
    browser.go(browser.value("location.hash.slice(1)"))
    verdict.check("region=" in browser.value("location.hash"), "a click in the list chooses no region: " + browser.value("location.hash"))
    browser.value("document.querySelectorAll('th button')[2].click()")
    browser.go(browser.value("location.hash.slice(1)"))
    verdict.check("sort=" in browser.value("location.hash"), "sorting is not in the address")
    verdict.equal(browser.value("document.querySelectorAll('th[aria-sort]').length"), 1, "headings that say how it is sorted")
    rows = browser.value("document.querySelectorAll('tbody tr:not(.gap)').length")
    browser.value("(() => { const i = document.querySelector('.tools input'); i.value = 'MPI'; i.dispatchEvent(new Event('input')); })()")
    verdict.check(0 < browser.value("document.querySelectorAll('tbody tr:not(.gap)').length") < rows, "searching leaves all rows, or none")
    browser.open(path, "view=tree")
    key = "(() => { const b = document.querySelector('.rows'); b.focus(); for (const k of %s) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true})); })()"
    browser.value(key % '["Home", "ArrowLeft"]')
    verdict.equal(browser.value("document.querySelectorAll('[aria-level]').length"), 1, "rows of the tree after ArrowLeft at its root")
    browser.value(key % '["ArrowRight", "ArrowDown", "Enter"]')
    browser.go(browser.value("location.hash.slice(1)"))
    verdict.check("node=1" in browser.value("location.hash"), "Enter in the tree chooses no node: " + browser.value("location.hash"))


def check_hostile(verdict, scratch, browser):
    path = scratch.file("hostile.html")
    hostile.make(scratch, path)
    title = browser.open(path) and browser.value("document.title")
    for view in VIEWS:
        browser.go("view=%s&region=0" % view)
        verdict.equal(browser.value("document.querySelectorAll('script, iframe, img, object, embed, link').length"), 0, "hostile, %s: elements" % view)
        verdict.check(not browser.value("window.hostile"), "hostile, %s: something of the profile ran" % view)
    verdict.check(any(text in browser.go("view=regions") for text in ("<svg", "&lt;b")), "hostile: names are not shown")
    verdict.equal(browser.value("document.title"), title, "hostile: title")
    verdict.check(not browser.value("new Promise(r => { try { const s = document.createElement('script'); s.append('window.hostile = 1'); document.body.append(s); } catch (e) {} "
                                    "setTimeout(() => r(window.hostile), 50); })"), "hostile: a script that is added runs in spite of the policy")
    refused = [t for t in browser.trouble if "Security Policy" in t or "TrustedScript" in t]
    browser.trouble[:] = [t for t in browser.trouble if t not in refused]


def check_large(verdict, scratch, browser):
    """Views of a large profile have few elements, whatever its size."""
    with open(scratch.file("large.xml"), "w") as file:
        file.write(page.synthetic(20000, 3000))
    verdict.equal(page.make(scratch.file("large.xml"), scratch.file("large.html")).status, 0, "large: status")
    browser.open(scratch.file("large.html"))
    for view in VIEWS:
        if view not in ("data", "messages", "samples"):
            browser.go("view=%s&region=7" % view)
            elements = browser.value("document.querySelectorAll('*').length")
            verdict.check(elements < 3000, "large, %s: %d elements" % (view, elements))


def pictures(folder, paths):
    browser = chromium.Chromium()
    for path in paths:
        links = browser.open(os.path.abspath(path)) and browser.value("[...document.querySelectorAll('nav a')].map(a => a.textContent)")
        for link in VIEWS:
            browser.go("view=" + link)
            shot = browser.ask("Page.captureScreenshot", format="png")["data"]
            with open(os.path.join(folder, "%s-%s.png" % (os.path.basename(path), link)), "wb") as file:
                file.write(base64.b64decode(shot))
        print(path, links, browser.trouble)
    browser.close()


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--keep-pictures":
        return pictures(sys.argv[2], sys.argv[3:])
    verdict, scratch = harness.Verdict("html/browser"), harness.Scratch("html-browser")
    if not chromium.find():
        scratch.done(True)
        harness.skip("no chromium (Debian package: chromium)")
    browser = chromium.Chromium()
    try:
        pages = {name: scratch.file(name + ".html") for name in ("mpi", "whatif", "ranks20")}
        for name, path in pages.items():
            page.make(os.path.join(harness.SOURCE, "tests", "golden", name + ".xml"), path)
        check_colours(verdict)
        check_views(verdict, browser, pages)
        check_data(verdict, scratch, browser)
        check_use(verdict, browser, pages["mpi"])
        check_hostile(verdict, scratch, browser)
        check_large(verdict, scratch, browser)
        verdict.equal(browser.trouble, [], "what the browser complains of")
        verdict.equal([url for url in browser.requests if not url.startswith(("file://" + scratch.path, "about:"))], [], "requests")
    finally:
        browser.close()
    return verdict.finish(scratch)


if __name__ == "__main__":
    main()
