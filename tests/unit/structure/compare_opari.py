"""First and last lines found from addresses in clang's code against those that OPARI2 finds in the source.

usage: compare_opari.py SHOW_LINES CLANG OPARI2 SOURCE DIR     exit status 77: skipped
"""
import os
import re
import shutil
import subprocess
import sys

# call that begins a construct -> construct, call that ends it
BEGIN = {
    "__kmpc_fork_call": ("PARALLEL", None),
    "__kmpc_critical": ("CRITICAL", "__kmpc_end_critical"),
    "__kmpc_single": ("SINGLE", "__kmpc_end_single"),
    "__kmpc_master": ("MASTER", "__kmpc_end_master"),
}
OPARI = {"parallel": "PARALLEL", "parallelfor": "PARALLEL", "critical": "CRITICAL", "single": "SINGLE", "master": "MASTER"}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def calls(binary):
    """Calls of the OpenMP run time: name, return address - 1."""
    found, pending = [], None
    for line in run("objdump", "-d", "--no-show-raw-insn", binary).splitlines():
        address = re.match(r"\s*([0-9a-f]+):\t", line)
        if not address:
            continue
        if pending:
            found.append((pending, int(address.group(1), 16) - 1))
        call = re.search(r"call\S*\s+\S+\s+<(__kmpc_\w+)", line)
        pending = call.group(1) if call else None
    return found


def questions(binary):
    found = calls(binary)
    for i, (name, address) in enumerate(found):
        if name in BEGIN:
            construct, end = BEGIN[name]
            last = next((a for n, a in found[i + 1:] if n == end), 0)
            yield f"{construct} {address:x} {last:x}"


def truth(opari2, source, directory):
    run(opari2, source, os.path.join(directory, "mod.c"), cwd=directory)
    inc = [f for f in os.listdir(directory) if f.endswith(".opari.inc")]
    text = "".join(open(os.path.join(directory, f)).read() for f in inc)
    for kind, begin, end in re.findall(r"regionType=(\w+)\*sscl=[^*]*:(\d+):\d+\*escl=[^*]*:\d+:(\d+)\*", text):
        if kind in OPARI:
            yield f"{OPARI[kind]} {begin} {end}"


def main():
    show, clang, opari2, source, directory = sys.argv[1:]
    for tool in (clang, opari2, "objdump"):
        if not shutil.which(tool):
            print(f"SKIP: no {tool}")
            return 77
    source = shutil.copy(source, os.path.join(directory, "directives.c"))
    expected = sorted(truth(opari2, source, directory))
    if len(expected) < 20:
        print(f"only {len(expected)} directives from OPARI2")
        return 1
    failed = 0
    for flags in (["-gdwarf-5"], ["-gdwarf-4", "-no-pie"], ["-gdwarf-5", "-fPIC", "-shared"]):
        binary = os.path.join(directory, "directives")
        try:
            run(clang, "-O0", "-fopenmp", *flags, source, "-o", binary)
        except subprocess.CalledProcessError as error:
            print("SKIP: clang cannot link OpenMP programs:", error.stderr.strip())
            return 77
        answer = run(show, binary, input="\n".join(questions(binary)) + "\n").splitlines()
        # the entries of the procedure linkage table are called like the functions, but lie in no source
        found = sorted(a for a in answer if not a.endswith(" 0 0"))
        for line in sorted(set(expected) ^ set(found)):
            print(" ".join(flags), "only OPARI2:" if line in expected else "only addresses:", line)
        failed |= found != expected
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
