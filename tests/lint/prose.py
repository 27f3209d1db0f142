#!/usr/bin/env python3
"""
The pages of the documentation (*.md) have no sentence above 35 words, and no phrase of tests/lint/riddle-words.txt.
tests/lint/prose-todo.txt lists the pages that are not there yet, each with the number of complaints that it may have. That list only
shrinks: a new page is never added to it, no number grows, and a page without complaints has to leave it.
Code, headings and HTML comments are left out; each list item and each cell of a table is text of its own.
usage: prose.py [PAGE...]   prints all complaints about these pages; without pages it judges the whole source tree.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("abs_top_srcdir") or os.path.dirname(os.path.dirname(HERE))
LONGEST = 35
ABBREVIATIONS = ("e.g.", "i.e.", "vs.", "cf.", "etc.", "sec.")
ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")


def lines_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return [line for line in (line.split("#")[0].strip() for line in f) if line]


def riddles():
    """What finds the phrases, the longest first, and what to write instead of the one in group N: [N - 1]."""
    rows = sorted(([part.strip() for part in line.split("|")] for line in lines_of("riddle-words.txt")), key=lambda row: -len(row[0]))
    patterns = ("(%s)" % re.escape(phrase).replace(r"\ ", r"\s+").replace(r"\*", r"\w*") for phrase, _ in rows)
    return re.compile(r"(?<![\w-])(?:%s)(?![\w-])" % "|".join(patterns), re.I), [instead for _, instead in rows]


def pieces(page):
    """Paragraphs, list items and cells of a page, each with the number of its first line."""
    text, begin, fenced, previous_blank = [], 0, False, True
    with open(page, encoding="utf-8") as f:
        lines = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group().count("\n"), f.read(), flags=re.S).splitlines()
    for number, line in enumerate(lines + [""], 1):
        fence = line.lstrip().startswith("```")
        code = fenced or fence or (line.startswith("    ") and previous_blank)
        cells = not code and line.lstrip().startswith("|")
        if text and (code or cells or not line.strip() or line.startswith("#") or ITEM.match(line)):
            yield begin, " ".join(text)
            text = []
        if cells:
            for cell in re.split(r"(?<!\\)\|", line):
                yield number, cell.strip()
        elif not code and line.strip() and not line.startswith("#"):
            begin = begin if text else number
            text.append(ITEM.sub("", line, count=1).strip("> ") if not text else line.strip("> "))
        fenced ^= fence
        # Code behind code, too, is indented; so is the text of a list item, which comes after text.
        previous_blank = not line.strip() or (code and not fence)


def plain(text):
    """Without markup; code counts as one word."""
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("*", "").replace("...", "…")


def sentences(text):
    sentence = []
    for word in text.split():
        sentence.append(word)
        if re.search(r"[.!?][)\"'”’]*$", word) and word.lower().lstrip("(") not in ABBREVIATIONS:
            yield sentence
            sentence = []
    yield sentence


def complaints(page, forbidden):
    """[(line, what is wrong)]"""
    found = []
    for number, piece in pieces(page):
        text = plain(piece)
        for sentence in sentences(text):
            words = [w for w in sentence if re.search(r"\w", w)]
            if len(words) > LONGEST:
                found.append((number, "a sentence of %d words: %s ..." % (len(words), " ".join(words[:8]))))
        pattern, instead = forbidden
        found += [(number, "'%s': write %s" % (m.group(), instead[m.lastindex - 1])) for m in pattern.finditer(text)]
    return found


def pages():
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [n for n in folders if not n.startswith(".") and n != "node_modules" and not os.path.exists(os.path.join(folder, n, "config.status"))]
        yield from (os.path.relpath(os.path.join(folder, n), SOURCE) for n in sorted(names) if n.endswith(".md"))


def wrong_about_sample(forbidden):
    """In the sample, each piece that begins with BAD has one complaint, and no other has any."""
    sample = os.path.join(HERE, "prose-sample.txt")
    marked = [number for number, piece in pieces(sample) if piece.startswith("BAD")]
    found = [number for number, _ in complaints(sample, forbidden)]
    return [] if marked and sorted(found) == sorted(marked) else ["prose-sample.txt: lines %s are bad, found %s" % (marked, found)]


def verdict(forbidden):
    todo = dict(line.split() for line in lines_of("prose-todo.txt"))
    bad, known = wrong_about_sample(forbidden), set()
    for page in pages():
        found, allowed = complaints(os.path.join(SOURCE, page), forbidden), int(todo.get(page, 0))
        known.add(page)
        if len(found) > allowed:
            bad += ["%s:%d: %s" % (page, line, what) for line, what in found]
            bad.append("%s: %d complaints, at most %d are allowed" % (page, len(found), allowed))
        elif page in todo and not found:
            bad.append("%s: has no complaints any more: take it out of tests/lint/prose-todo.txt" % page)
    bad += ["tests/lint/prose-todo.txt: there is no page %s" % page for page in todo if page not in known]
    return bad if known else ["no pages in %s" % SOURCE]


def main():
    forbidden = riddles()
    if sys.argv[1:]:
        bad = ["%s:%d: %s" % (page, line, what) for page in sys.argv[1:] for line, what in complaints(page, forbidden)]
    else:
        bad = verdict(forbidden)
    for line in bad:
        print(line)
    sys.exit(bool(bad))


main()
