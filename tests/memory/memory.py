"""What the tests of load/store counts share: building with hooks, and the counts per structure, region and thread."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LOADS, STORES, LOADED, STORED, FOREIGN_LOADS, FOREIGN_STORES, BLOCK_LOADS, BLOCK_STORES = range(8)
FORTRAN = os.environ.get("TEST_GFORTRAN", "gfortran")


def compilers(*wanted):
    """Those of gcc, g++, gfortran, clang, clang++ that are here."""
    names = {"gcc": harness.COMPILERS["opari"], "g++": "g++", "gfortran": FORTRAN, "clang": harness.COMPILERS["ompt"],
             "clang++": harness.COMPILERS["ompt"].replace("clang", "clang++", 1)}
    found = [(w, names[w]) for w in wanted if shutil.which(names[w])]
    for w in wanted:
        if not shutil.which(names[w]):
            print("note: not tested with %s: it is not here" % names[w])
    return found or harness.skip("no compiler of " + " ".join(wanted))


def build(compiler, source, output, *flags):
    """Through kinst-ompp --memory; returns what was said on stderr."""
    words = [harness.command("kinst-ompp"), "--memory", compiler, "-fopenmp", "-g", *flags,
             "-I", os.path.join(harness.SOURCE, "include"), source, "-o", output]
    done = harness.execute(words, os.path.dirname(output))
    if done.status != 0:
        raise harness.Failure("cannot build: %s\n%s" % (" ".join(words), done.err[-1500:]))
    return done.err


def has_plugin(compiler):
    """Whether hooks of this gcc or clang are inlined by a plugin. When the build has made one for this clang, it must be used."""
    words = [harness.command("kinst-ompp"), "--memory", "--verbose", "--dry-run", compiler, "-O1", "-c", os.path.join(HERE, "lone.c")]
    said = harness.execute(words, HERE).err
    version = harness.execute([compiler, "-dumpversion"], HERE).out.split(".")[:2]
    made = os.path.join(harness.BUILD, ".libs", "ompp", "memory-clang-%s.so" % ".".join(version).strip())
    if os.path.exists(made) and made not in said:
        raise harness.Failure("%s does not use %s: %s" % (compiler, made, said[-1500:]))
    return "plugin=" in said


def counts_in_registers(program, function):
    """Whether a function has code that counts in registers: it hands over by symbols of its own (src/data/ompp_map_layout.h)."""
    code = harness.execute(["objdump", "-d", "--disassemble=" + function, program], os.path.dirname(program)).out
    return "ompp_memory_turn_" in code or "ompp_memory_run_" in code


def processor_has(feature):
    """Whether programs that are compiled for a feature run here, as far as the system tells."""
    try:
        with open("/proc/cpuinfo") as told:
            return feature in told.read().split()
    except OSError:
        return False


def without_plugin(compiler, folder):
    """A command for clang that no plugin is for, as its version is another one."""
    path = os.path.join(folder, "other", os.path.basename(compiler))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as script:
        script.write('#!/bin/sh\n[ "$1" = -dumpversion ] && echo 0.0 || exec %s "$@"\n' % compiler)
    os.chmod(path, 0o755)
    return path


def memory_set(profile):
    """Number of the set of metrics that the hooks fill."""
    return next((int(m.get("set")) for m in profile.root.find("metrics") if m.get("source") == "load/store hooks"), None)


def objects(profile):
    listed = profile.root.find("objects")
    return {} if listed is None else {o.get("name"): o for o in listed}


def counts(profile, name, region=None, by_thread=False):
    """Eight sums of a structure (None: all data), of one region id or of all; by_thread: a dictionary by thread."""
    wanted = None if name is None else objects(profile)[name].get("id")
    number, per_thread = str(memory_set(profile)), {}
    for node in profile.root.find("nodes"):
        if region is not None and node.get("region") != region:
            continue
        for values in node.findall("values"):
            if values.get("set") == number and values.get("object") == wanted:
                old = per_thread.setdefault(int(values.get("location")), [0] * 8)
                for i, text in enumerate(values.text.split()):
                    old[i] += int(text)
    if by_thread:
        return per_thread
    return [sum(v[i] for v in per_thread.values()) for i in range(8)]


def sums(profile):
    """Eight sums by the number of the structure, of all threads and regions."""
    number, found = str(memory_set(profile)), {}
    for values in profile.root.iterfind("nodes/node/values"):
        if values.get("set") == number:
            old = found.setdefault(values.get("object"), [0] * 8)
            for i, text in enumerate(values.text.split()):
                old[i] += int(text)
    return found


def region_of(profile, kind, index=0):
    """Id of a region by type, in order of the file."""
    found = [r for r in profile.root.find("regions") if r.get("type") == kind]
    return found[index].get("id")
