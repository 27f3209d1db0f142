#!/usr/bin/env python3
"""
The page has the numbers of the text report, of the CSV report and of the XML: each row of each region, the callgraph, the overheads, what is
in words. For the saved profiles and one of a run.
"""

import glob
import json
import os
import re

import page
from page import harness
import ompp_profile

TEXT_DIGITS, CSV_DIGITS = 9, 6


def report(*words):
    done = harness.execute([harness.command("ompp-report"), *words], ".", TZ="UTC0")
    if done.status:
        raise harness.Failure("ompp-report %s: %s" % (" ".join(words), done.err))
    return done.out.splitlines()


def rounded(ns, digits):
    unit = 10 ** (9 - digits)
    return (ns + unit // 2) // unit


def cell(value, unit, digits):
    whole, part = divmod(rounded(value, digits), 10 ** digits)
    return "%d.%0*d" % (whole, digits, part) if unit == "ns" else str(value)


def key_of(number, line):
    """A task and its executions have one number."""
    return number + ("x" if "TASKEXEC" in line else "")


def tables_of(data, digits):
    """{(region, row): {title: cell}} for SUM and each thread."""
    found = {}
    for table in data["tables"]:
        number = key_of("R%05d" % data["regions"]["number"][table["region"]],
                        data["constructs"][data["regions"]["construct"][table["region"]]][0])
        columns = [c for c in table["columns"] if not isinstance(c["sum"][0], float)]
        rows = [("SUM", [c["sum"][0] for c in columns])]
        for i, (rank, tid, _) in enumerate(data["locations"]):
            if all("rows" in c for c in columns):
                rows.append(((rank, tid), [c["rows"][i] for c in columns]))
        for label, values in rows:
            found[number, label] = {c["title"]: cell(v, c["unit"], digits) for c, v in zip(columns, values)}
    return found


def flat_of(lines, csv, collapsed):
    """The same of a report."""
    found, region, titles, inside, together = {}, None, [], False, False
    for line in lines:
        words = line.split(",") if csv else line.split()
        inside = inside and not line.startswith(("----     ompP Callgraph Region", "##END flat region")) or line.startswith(("----     ompP Flat", "##BEG flat"))
        if not inside or not words:
            continue
        if re.match(r"R\d{5}", words[0]):
            region, together = key_of(words[0], line), words[0] in collapsed
        elif words[0] in ("TID", "RANK"):
            titles = words
        elif region and (words[0] == "SUM" or re.fullmatch(r"\d+", words[0])) and titles:
            n = 2 if titles[0] == "RANK" else 1
            values = words[1:] if words[0] == "SUM" else words[n:]
            if csv and words[0] == "SUM":
                values = words[n:]
            if together and words[0] != "SUM":
                continue  # all threads of a rank in one row, which the page does not do
            label = "SUM" if words[0] == "SUM" else (int(words[0]) if n == 2 else 0, int(words[n - 1]))
            found[region, label] = {t: v if "." in v and len(v.split(".")[1]) > 3 else v.replace(".", "") for t, v in zip(titles[n:], values)}
    return found


def compare_tables(verdict, name, data, lines, csv, collapsed):
    ours, theirs = tables_of(data, CSV_DIGITS if csv else TEXT_DIGITS), flat_of(lines, csv, collapsed)
    verdict.check(theirs, "%s: no table in the report" % name)
    serial = len({rank for rank, _, _ in data["locations"]}) == 1 and data["locations"][0][0] != 0
    for (region, label), row in theirs.items():
        if serial and label != "SUM":
            label = (data["locations"][0][0], label[1])
        mine = ours.get((region, label), {})
        wrong = {t: (v, mine.get(t)) for t, v in row.items() if t in mine and mine[t] != v or t not in mine and "(" not in t and "EVAL" not in t}
        verdict.equal(wrong, {}, "%s, %s: %s of %s" % (name, "CSV" if csv else "text", label, region))


def compare_callgraph(verdict, name, data, text):
    """Times of nodes, in the order of both, with nine digits."""
    tree = data["tree"]
    time = tree["metrics"][0]
    ours = [(data["duration"], data["outside"])] + [
        (page.mean(a, d), page.mean(o, d)) for a, o, d in list(zip(time["all"], time["own"], tree["divisor"]))[1:]]
    start = next(i for i, line in enumerate(text) if "ompP Callgraph  " in line)
    theirs = []
    for line in text[start + 2:]:
        found = re.match(r" *(\d+\.\d{9}) \(.*?\) +(\d+\.\d{9}) \(", line)
        if found:
            theirs.append(tuple(int(t.replace(".", "")) for t in found.groups()))
        if line.startswith("----"):
            break
    verdict.equal(ours, theirs, name + ": callgraph")


def compare_overheads(verdict, name, data, csv):
    theirs, inside = {}, False
    for line in csv:
        inside = inside and not line.startswith("##END") or line.startswith("##BEG overheads for whole program")
        words = line.split(",")
        if inside and re.fullmatch(r"R\d{5}|SUM", words[0]):
            theirs[words[0]] = [words[1], *words[2::2]]
    classes = [i for i, title in enumerate(data["overheads"]["classes"]) if title != "MPI" or data["mpi"]]
    ours = {"SUM" if o is data["overheads"]["sum"][0] else "R%05d" % data["regions"]["number"][o["region"]]:
            [cell(v, "ns", CSV_DIGITS) for v in (o["total"], o["lost"], *(o["classes"][c] for c in classes))]
            for o in data["overheads"]["regions"] + data["overheads"]["sum"]}
    verdict.equal(ours, theirs, name + ": overheads")


def compare_xml(verdict, name, data, path):
    """By a second reader of the XML."""
    profile = ompp_profile.Profile(path)
    sums = {}
    for node in profile.nodes:
        if node.region is not None:
            sums[node.region.number] = sums.get(node.region.number, 0) + sum(p.time for phases in node.phases.values() for p in phases.values())
    ours = {}
    for region, time in zip(data["tree"]["region"][1:], data["tree"]["metrics"][0]["all"][1:]):
        if not data["constructs"][data["regions"]["construct"][region - 1]][2]:
            number = data["regions"]["number"][region - 1]
            ours[number] = ours.get(number, 0) + time
    verdict.equal(ours, sums, name + ": times of regions, XML")


def compare_efficiency(verdict, name, data, path):
    """What is lost adds up, to what the XML has."""
    if "efficiency" not in data:
        return
    e = data["efficiency"]
    run = e["of"][0]
    verdict.equal(sum(p["time"] for p in e["parts"]), run["time"], name + ": parts of the time")
    verdict.equal(sum(loss[3] for loss in e["losses"]), run["time"] - run["work"], name + ": losses")
    sums = {}
    for lost, _, _, time, _ in e["losses"]:
        sums[e["lost"][lost][0]] = sums.get(e["lost"][lost][0], 0) + time
    verdict.equal(sums, {p["kind"]: p["time"] for p in e["parts"] if p["kind"] not in ("work", "measuring")}, name + ": losses by kind")
    if not data["rest"]:
        compare_losses(verdict, name, data)
    theirs = json.loads("\n".join(report("show", "--json", path))).get("efficiency")
    if theirs:
        whole = theirs[0] if isinstance(theirs, list) else theirs
        verdict.check(abs(whole["parallel"] - run["ratios"][0]["value"]) < 1e-6, "%s: parallel efficiency: %s" % (name, whole))


def compare_losses(verdict, name, data):
    """The loss budget and what call paths lose are the same, of each region and kind: tasks and waits for them, too."""
    budget, paths = {}, {}
    for lost, region, _, time, _ in data["efficiency"]["losses"]:
        key = data["efficiency"]["lost"][lost][0], region
        budget[key] = budget.get(key, 0) + time
    for metric in data["tree"]["metrics"]:
        for region, time in zip(data["tree"]["region"], metric["own"] if "loss" in metric else []):
            if time:
                paths[metric["loss"], region - 1] = paths.get((metric["loss"], region - 1), 0) + time
    verdict.equal(paths, {key: time for key, time in budget.items() if time}, name + ": losses of call paths and the loss budget")


def compare_summary(verdict, name, data, text):
    """The summary's parts are those of the loss budget: of MPI and of idle threads, too."""
    if "efficiency" not in data:
        return
    kinds = {p["kind"]: p["time"] for p in data["efficiency"]["parts"]}
    mpi = sum(kinds[kind] for kind in kinds if kind.startswith("mpi"))
    for word, ns in (("work", kinds["work"]), ("measuring", kinds.get("measuring", 0)), ("MPI", mpi), ("idle", sum(kinds.get(kind, 0) for kind in ("serial", "small-team", "ended", "not-attributed")))):
        found = re.search(r"^ +([\d.]+) sec +[\d.]+ %%  %s\b" % word, text, re.M)
        verdict.check(abs(float(found[1] if found else 0) - ns / 1e9) < 0.006 + 0.001 * (not found) * data["basis"] / 1e9,
                      "%s: %s in the summary, %d ns in the page" % (name, found and found[0], ns))


def compare_structures(verdict, name, data, csv):
    """Loads, stores and the others by region and structure; those without a region, too."""
    if "structures" not in data:
        return
    s, theirs, inside = data["structures"], {}, False
    for line in csv:
        inside = inside and not line.startswith("##END") or line == "##BEG ompp data"
        words = line.split(",")
        if inside and re.fullmatch(r"R\d{5}|outside regions", words[0]):
            theirs[words[0], words[1]] = [int(w) for w in words[2:]]
    ours = {}
    for region, structure, *values in s["rows"]:
        where = "outside regions" if region < 0 else "R%05d" % data["regions"]["number"][region]
        ours[where, "(all data)" if structure < 0 else s["names"][structure].replace(",", ";")] = values
    verdict.equal(ours, theirs, name + ": structures")


def compare_words(verdict, name, data, text):
    for key, title in (("general", "ompP General Information"), ("summary", "ompp Summary"), ("coverage", "ompp Coverage"), ("whatif", "ompp What-if")):
        start = next((i for i, line in enumerate(text) if line.startswith("----     %s     --" % title)), None)
        if start is None:
            continue
        end = next((i for i in range(start + 2, len(text)) if text[i].startswith("-----") and text[i + 1].startswith("----  ")), len(text))
        section = "\n".join(text[start + 2:end]).strip("\n").split("\n")
        verdict.equal(data["sections"].get(key, [""] * 3)[3:], section, "%s: section %s" % (name, title))


def check(verdict, scratch, path):
    name = os.path.basename(path)
    done = page.make(path, scratch.file(name + ".html"), TZ="UTC0")
    if not verdict.equal(done.status, 0, "%s: status of ompp-report html: %s" % (name, done.err)):
        return
    data = page.read(scratch.file(name + ".html"))
    text, csv = report("show", "--full", "--digits=%d" % TEXT_DIGITS, path), report("csv", "--full", path)
    collapsed = {line.split()[0] for line in text if re.match(r"R\d{5} .*\(collapsed", line)}
    compare_tables(verdict, name, data, text, False, collapsed)
    compare_tables(verdict, name, data, csv, True, collapsed)
    compare_callgraph(verdict, name, data, text)
    compare_overheads(verdict, name, data, csv)
    compare_xml(verdict, name, data, path)
    compare_efficiency(verdict, name, data, path)
    compare_structures(verdict, name, data, csv)
    compare_summary(verdict, name, data, "\n".join(report("summary", path)))
    compare_words(verdict, name, data, report("show", "--full", path))


def main():
    verdict, scratch = harness.Verdict("html/totals"), harness.Scratch("html-totals")
    for path in sorted(glob.glob(os.path.join(harness.SOURCE, "tests", "golden", "*.xml"))):
        check(verdict, scratch, path)
    program = scratch.file("run", "counts")
    harness.build(os.path.join(harness.HERE, "bad_omp.c"), program, harness.sources()[0])
    run = harness.run(program, os.path.dirname(program), 2, OMPP_OUTFORMAT="html,text")
    pages = run.reports("html")
    if verdict.equal(len(pages), 1, "OMPP_OUTFORMAT=html: pages: " + run.err):
        check(verdict, scratch, run.reports()[0])
        verdict.equal(page.read(pages[0])["tree"], page.read(scratch.file(os.path.basename(run.reports()[0]) + ".html"))["tree"],
                      "the page of the run and that of ompp-report")
    path, made = page.structures(scratch), scratch.file("structures.html")
    page.make(path, made)
    verdict.check("misses" in page.read(made).get("structures", {}), "structures and their misses are in the page")
    compare_structures(verdict, "structures", page.read(made), report("csv", "--full", path))
    verdict.finish(scratch)


if __name__ == "__main__":
    main()
