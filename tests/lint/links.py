#!/usr/bin/env python3
"""Links of the documentation lead to a file that is there, and to a heading in it; and each page that a source names is there."""
import os
import re
import sys

SOURCE = os.environ.get("abs_top_srcdir", ".")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def headings(text):
    """What a link to a heading may say behind the #: lower case, without punctuation, hyphens for spaces."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)}


def files(*endings):
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [n for n in folders if not n.startswith(".") and n != "node_modules" and not os.path.exists(os.path.join(folder, n, "config.status"))]
        yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(endings))


def complaints(page):
    text = read(page)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, heading = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if re.match(r"[a-z]+:", link):
            continue
        if not os.path.exists(target):
            yield f"{link}: there is no such file"
        elif heading and heading not in headings(read(target)):
            yield f"{link}: there is no such heading"


def unknown_pages(path):
    for name in re.findall(r"\bdocs/[\w-]+\.md\b", read(path)):
        if not os.path.exists(os.path.join(SOURCE, name)):
            yield f"{name}: there is no such page"


pages, sources = list(files(".md")), list(files(".md", ".c", ".h", ".def", ".py", ".sh", ".am"))
bad = [f"{os.path.relpath(page, SOURCE)}: {what}" for page in pages for what in complaints(page)]
bad += [f"{os.path.relpath(path, SOURCE)}: {what}" for path in sources for what in unknown_pages(path)]
if len(pages) < 2:
    bad.append(f"no pages in {SOURCE}")
for line in bad:
    print(line)
sys.exit(bool(bad))
