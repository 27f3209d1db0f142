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
    ("mpi", "advice", -1, ["Losses of time", "%", "source of the cause"]),
    ("mpi", "efficiency", -1, ["Load balance", "Parallel regions", "Imbal"]),
    ("mpi", "regions", 0, ["R00001", "Executions", "Copy table"]),
    ("mpi", "tree", 0, ["Call path", "MPI_", "mpi"]),
    ("mpi", "icicle", 0, ["Metric", "time per thread", "parallel regions"]),
    ("mpi", "threads", 0, ["execT", "SUM", "rank", "time from entering to leaving"]),
    ("properties", "advice", -1, ["synchronisation", "No advice is about this loss", "loss budget"]),
    ("properties", "efficiency", -1, ["MPI: its start"]),
    ("properties", "coverage", -1, ["Percentages are of thread time", "table of parallel regions (view Efficiency)"]),
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


def make_losses(scratch, name, edit, **of):
    """The page of a profile that edit adds to; a.c and b.c are beside it."""
    p = page.load_profiles().Profile("losses", **{"threads": 2, **of})
    edit(p, lambda file: scratch.file("source", file))
    for file, lines in (("a.c", ["int a;"] * 30), ("b.c", ["int b;"] * 29 + ["/* " + "b" * 150 + " */"])):
        with open(scratch.file("source", file), "w") as to:
            to.write("\n".join(lines) + "\n")
    with open(scratch.file(name + ".xml"), "w") as to:
        to.write(p.xml())
    done = page.make(scratch.file(name + ".xml"), scratch.file(name + ".html"))
    if done.status:
        raise harness.Failure(done.err)
    return scratch.file(name + ".html")


def without_advice(p, path):
    """b.c loses 300 ms to its start and end, too little of its time for advice; a.c loses less, with advice. b.c's threads are uneven."""
    team = p.node(p.region("PARALLEL LOOP", 1, file=path("a.c"), begin=3, end=4), 0, 10)
    p.time(team, (0, 0), 1, body=880, exitbar=120)
    p.time(team, (0, 1), 1, body=1000)
    team = p.node(p.region("PARALLEL LOOP", 2, file=path("b.c"), begin=3, end=4), 0, 2000)
    p.time(team, (0, 0), 1, body=6000, exitbar=1750, startup=75, shutdown=75)
    p.time(team, (0, 1), 1, body=7750, startup=75, shutdown=75)


def with_tasks(p, path):
    team = p.node(p.region("PARALLEL", 1, file=path("b.c"), begin=2, end=20), 0, 10)
    p.all(team, 1, body=(9000, 9000))
    p.all(p.node(p.region("TASK", 2, file=path("b.c"), begin=5, end=6), team, 20), 1000, exec=3000)
    p.all(p.node(p.region("TASKWAIT", 3, file=path("b.c"), begin=8, end=8), team, 30), 1000, exec=6000)


ROW = "[...document.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent)).filter(c => c.includes('%s'))"


def check_losses(verdict, scratch, browser):
    """Losses without advice stand among the others, tasks lose what the loss budget says, and views open where most is lost."""
    path = make_losses(scratch, "without", without_advice)
    browser.open(path, "view=summary")
    first = browser.value("[...document.querySelectorAll('ol.advice li')].map(l => l.textContent)")
    verdict.equal([next((w for w in ("Imbalance", "fork, join, tasks", "Unparallelized") if w in text), text) for text in first],
                  ["Imbalance", "Unparallelized", "fork, join, tasks"], "what to look at first")
    verdict.check("R00002" in first[2] and "1.5 %" in first[2] and "300.0 ms" in first[2], "the loss without advice: %s" % first[2])
    shown = browser.go("view=advice")
    verdict.check("Of these losses, 300.0 ms (1.5 %) in 1 place have no advice" in shown, "Advice does not say what it leaves out: " + shown)
    verdict.check(shown.index("fork, join, tasks") < shown.index("R00001"), "Advice is not in the order of losses: " + shown)
    widths = browser.value("[...document.querySelectorAll('ol.advice .stack > span')].map(s => [s.className, parseFloat(s.style.width)])")
    verdict.check(len({c for c, _ in widths}) == 3 and all(w < 20 for _, w in widths), "bars are of the time of all threads, in the colour of the loss: %s" % widths)
    shown = browser.go("view=source")
    verdict.equal(browser.value("document.querySelector('main select').selectedOptions[0].textContent.split(' ')[0]"), "b.c", "file that Source opens")
    verdict.check(browser.value("(() => { const t = document.querySelector('.rows'), c = t.querySelectorAll('code')[29]; return c.scrollWidth <= c.parentElement.clientWidth && c.title; })()"), "a long line of source is cut off")
    verdict.check(browser.go("view=threads") and browser.value("document.querySelector('main select').value") in ("bodyT", "exitBarT"), "Threads opens on a column that is the same for all threads")
    for view in ("threads", "regions", "efficiency", "source"):
        browser.go("view=%s&region=1" % view)
        cut = browser.value("[...document.querySelectorAll('.rows thead th > *')].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map(e => e.textContent)")
        verdict.equal(cut, [], "headings that are cut off, view " + view)
    path = make_losses(scratch, "tasks", with_tasks)
    for view in ("regions", "source"):
        browser.open(path, "view=" + view)
        for name in ("TASK", "TASKWAIT"):
            found = browser.value(ROW.replace("includes('%s')", "some(t => t === '%s' || t.endsWith(' %s'))") % (name, name))
            verdict.check(found and ("6.000" if name == "TASK" else "12.000") in [c for c in found[0]][(-3 if view == "regions" else 1):], "%s loses nothing in view %s: %s" % (name, view, found))


def many_ranks(p, path):
    """Rank 0 works longest, each of the others is done earlier; each sends to the next one."""
    p.durations = [10000 if r == 0 else 9000 - 10 * r for r in range(64)]
    call = p.node(p.region("MPI", 1, file=path("a.c"), begin=7, end=7, name="MPI_Send"), 0, 10)
    other = p.node(p.region("MPI", 2, file=path("a_name_that_is_long.c"), begin=123, end=123, name="MPI_Sendrecv"), 0, 20)
    p.all(call, 10, [0, 80000, 0, 10, 0], exec=2000)
    p.all(other, 10, [80000, 80000, 10, 10, 0], exec=10)
    p.whatif = [" <messages>", *('  <message from="%d" to="%d" messages="10" bytes="80000"/>' % (r, (r + 1) % 64) for r in range(64)), " </messages>"]


# Where a click on a canvas at the parts x, y says that it is.
CLICK = """(() => { const c = document.querySelector('main canvas'), b = c.getBoundingClientRect(), p = c.parentElement.getBoundingClientRect();
  c.dispatchEvent(new MouseEvent('click', {clientX: b.left + %s, clientY: b.bottom - 5, bubbles: true}));
  return document.querySelector('main .says').textContent + (b.right > p.right + 1 ? ', wider than its box' : ''); })()"""
CUT = "[...document.querySelectorAll('main .rows tbody td:not(:has(code))')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"


def check_ranks(verdict, scratch, browser):
    """64 ranks: what each of them loses at its end is one loss, pictures have all ranks and fit, numbers and places are whole."""
    path = make_losses(scratch, "ranks64", many_ranks, ranks=64, mpi=True, threads=1)
    browser.open(path, "view=summary")
    shown = browser.go("view=summary")
    verdict.check("done before others" in shown and "rank 63" in shown, "ranks that are done early are no loss: " + shown)
    verdict.equal(browser.go("view=advice").count("done before others"), 1, "losses of ranks that are done early")
    verdict.check("a.c:7" in browser.value("document.querySelector('#side').textContent"), "the list does not tell calls of MPI apart")
    for width, height in ((1280, 800), (360, 640)):
        browser.size(width, height)
        browser.go("view=messages")
        verdict.check("rank 63 to rank 63" in browser.value(CLICK % "56 + 63.5 * (%d > 500 ? 10 : 4)" % width), "%d: the last cell of the matrix: %s" % (width, browser.value(CLICK % "0")))
        verdict.check(browser.value("document.querySelector('main canvas').clientHeight") < height, "%d: the matrix is higher than the window" % width)
        verdict.equal(browser.value(CUT), [], "%d: cells that are cut off, view MPI" % width)
        browser.go("view=regions")
        verdict.equal(browser.value(CUT), [], "%d: cells that are cut off, view Regions" % width)
        browser.go("view=source")
        verdict.equal(browser.value(CUT), [], "%d: cells that are cut off, view Source" % width)
        verdict.check(browser.value("(() => { const a = document.querySelector('nav [aria-current]').getBoundingClientRect(); return a.left >= 0 && a.right <= innerWidth; })()"), "%d: the view's name cannot be seen" % width)
        browser.go("view=threads&region=0")
        verdict.check("rank 63" in browser.value(CLICK % (70 + 63.5 * 14 if width > 500 else 70 + 15.5 * 16)), "%d: rows of ranks have not the same length: %s" % (width, browser.value("document.querySelector('main .says').textContent")))
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


def check_words(verdict, browser, pages):
    """What views do not say: sections that the page has not, that nothing is known where there is something; links in texts."""
    for name, path in pages.items():
        browser.open(path, "view=coverage")
        shown = browser.go("view=coverage")
        for other in ("whole program", "sorted by wallclock", "Overhead Analysis Report"):
            verdict.check(other not in shown, "%s: Coverage names a section of the text report: %s" % (name, other))
        shown = browser.go("view=whatif")
        verdict.check("Nothing is known" not in shown, "%s: What-if: %s" % (name, shown))
    browser.open(pages["ranks20"], "view=summary")
    verdict.check("20 ranks x 2 threads" in browser.value("document.querySelector('header').textContent"), "threads of a rank in the header")
    verdict.check("Regions: % of thread time" in browser.value("document.querySelector('#side').textContent"), "the list has no heading")
    browser.open(pages["mpi"], "view=summary")
    browser.value("document.querySelector('details').open = true")
    verdict.check(browser.value("[...document.querySelectorAll('pre.words a')].some(a => /^[A-Z ]+ \\S+ \\(\\d/.test(a.textContent))"), "a region in a text is no link")


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
        pages = {name: scratch.file(name + ".html") for name in ("mpi", "whatif", "ranks20", "properties")}
        for name, path in pages.items():
            page.make(os.path.join(harness.SOURCE, "tests", "golden", name + ".xml"), path)
        check_colours(verdict)
        check_views(verdict, browser, pages)
        check_data(verdict, scratch, browser)
        check_losses(verdict, scratch, browser)
        check_ranks(verdict, scratch, browser)
        check_words(verdict, browser, pages)
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
