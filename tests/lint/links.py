#!/usr/bin/env python3
"""Links of the documentation lead to a file that is there, and to a heading in it; so does each page that another file names."""
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


def pages():
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [n for n in folders if not n.startswith(".") and not os.path.exists(os.path.join(folder, n, "config.status"))]
        yield from (os.path.join(folder, n) for n in names if n.endswith(".md"))


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
    for name in re.findall(r"`(docs/[\w-]+\.md)`", text):
        if not os.path.exists(os.path.join(SOURCE, name)):
            yield f"{name}: there is no such page"


bad = [f"{os.path.relpath(page, SOURCE)}: {what}" for page in sorted(pages()) for what in complaints(page)]
for line in bad:
    print(line)
sys.exit(bool(bad))
