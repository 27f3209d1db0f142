#!/usr/bin/env python3
"""
Programs that replace themselves, start others, or load OpenMP and MPI by themselves: which of them is measured, and the one line per
launch that says so when nothing was.
"""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "run"))

import harness  # noqa: E402

APP = """
#include <stdio.h>
int main(void)
{
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    n++;
    printf("%d\\n", n);
    return 0;
}
"""
KERNEL = """
int kernel(void)
{
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    n++;
    return n;
}
"""
EXEC = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static int is(char **argv, const char *way) { return strcmp(argv[1], way) == 0; }
int main(int argc, char **argv)
{
    char *words[] = {"other name", NULL};
    pid_t child;
#ifdef TEAM
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    n++;
#endif
    if (is(argv, "execl")) execl("./app", "other", "name", NULL);
    if (is(argv, "execle")) execle("./app", "other", NULL, environ);
    if (is(argv, "execlp")) execlp("app", "other", "name", NULL);
    if (is(argv, "execv")) execv("./app", words);
    if (is(argv, "again")) return argc > 2 ? 4 : execv("/proc/self/exe", (char *[]){argv[0], "again", "x", NULL});
    if (is(argv, "execve")) execve("./app", words, environ);
    if (is(argv, "execvp")) execvp("app", words);
    if (is(argv, "execvpe")) execvpe("app", words, environ);
    if (is(argv, "fexecve")) fexecve(open("app", O_RDONLY | O_CLOEXEC), words, environ);
    if (is(argv, "execveat file")) execveat(open("app", O_PATH | O_CLOEXEC), "", words, environ, AT_EMPTY_PATH);
    if (is(argv, "execveat directory")) execveat(open(".", O_PATH | O_CLOEXEC), "app", words, environ, 0);
    if (is(argv, "execveat here")) execveat(AT_FDCWD, "app", words, environ, 0);
    if (is(argv, "missing"))
        return execv("./nosuch", words) == -1 && execl("./nosuch", "x", NULL) == -1 && fexecve(77, words, environ) == -1 ? 3 : 4;
    if (is(argv, "refused")) return execv("./foreign", words) == -1 && errno == ENOEXEC && execv("./loaderless", words) == -1 && errno == ENOENT ? 3 : 4;
    if (is(argv, "busy")) {
        open("app", O_RDWR | O_CLOEXEC);
        return execv("./app", words) == -1 && errno == ETXTBSY && execvp("app", words) == -1 && errno == ETXTBSY ? 3 : 4;
    }
    if (is(argv, "asks")) { /* AT_EXECVE_CHECK: does this system say whether a file can be executed? */
        const int file = open("app", O_RDONLY | O_CLOEXEC);
        open("app", O_RDWR | O_CLOEXEC);
        return execveat(file, "", words, environ, AT_EMPTY_PATH | 0x10000) == -1 && errno == ETXTBSY ? 3 : 4;
    }
    if (is(argv, "found")) {
        setenv("PATH", "first:.", 1);
        execlp("app", "app", NULL);
    }
    if (is(argv, "deleted")) {
        int copy = open("copy", O_RDONLY | O_CLOEXEC);
        unlink("copy");
        fexecve(copy, words, environ);
    }
    if (is(argv, "vfork") && (child = vfork()) == 0) {
        execl("./app", "app", NULL);
        _exit(1);
    }
    if (is(argv, "posix_spawn") && posix_spawn(&child, "./app", NULL, NULL, words, environ) != 0) return 1;
    if (is(argv, "posix_spawnp") && posix_spawnp(&child, "app", NULL, NULL, words, environ) != 0) return 1;
    if (is(argv, "system")) return system("./app; true") != 0;
    return wait(NULL) < 0;
}
"""
# What stands between a program and the system may not know AT_EXECVE_CHECK, and execute.
IGNORES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
long syscall(long number, ...)
{
    long (*real)(long, ...), word[6];
    va_list words;
    va_start(words, number);
    for (int i = 0; i < 6; i++) word[i] = va_arg(words, long);
    va_end(words);
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, word[0], word[1], word[2], word[3], number == SYS_execveat ? word[4] & ~0x10000L : word[4], word[5]);
}
"""
LATE = """
#include <dlfcn.h>
#include <string.h>
int main(int argc, char **argv)
{
    int (*function)(int *, char ***);
    for (int i = 1; i + 1 < argc; i += 2) {
#ifdef DEEP
        void *library = dlopen(argv[i], strstr(argv[i], "libgo-") ? RTLD_NOW | RTLD_DEEPBIND : RTLD_NOW);
#else
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
#endif
        *(void **)&function = library ? dlsym(library, argv[i + 1]) : 0;
        if (!function) return 2;
        function(&argc, &argv);
    }
    return 0;
}
"""
# Two threads open what brings MPI at the same moment; a function of one of them is called then.
TWO = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t both;
static void *opens(void *name)
{
    pthread_barrier_wait(&both);
    return dlopen(name, RTLD_NOW);
}
int main(int argc, char **argv)
{
    pthread_t thread[2];
    void *library[2];
    int (*go)(void);
    if (argc != 4 || pthread_barrier_init(&both, 0, 2)) return 77;
    for (int i = 0; i < 2; i++) if (pthread_create(&thread[i], 0, opens, argv[1 + i])) return 77;
    for (int i = 0; i < 2; i++) pthread_join(thread[i], &library[i]);
    *(void **)&go = library[atoi(argv[3])] ? dlsym(library[atoi(argv[3])], "go") : 0;
    return go ? go() : 2;
}
"""
SMALL = """
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
static void *opens(void *name) { return dlopen(name, RTLD_NOW); }
int main(int argc, char **argv)
{
    pthread_attr_t attr;
    pthread_t thread;
    void *library = 0;
    pthread_attr_init(&attr);
    if (pthread_attr_setstacksize(&attr, 32 * 1024)) return 77;
    if (argc != 2 || pthread_create(&thread, &attr, opens, argv[1])) return 77;
    pthread_join(thread, &library);
    return !library;
}
"""
ABSENT = """
import ctypes, sys
for name in ("%s", "%s"):
    try:
        ctypes.CDLL(name)
        sys.exit(1)
    except OSError:
        pass
sys.exit(ctypes.CDLL("./libgo-%s.so").go())
"""
MPI = """
#include <mpi.h>
int go(void)
{
    int there;
    MPI_Initialized(&there);
    if (!there) MPI_Init(0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


BECOMES = ("execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve", "execveat file", "execveat directory",
           "execveat here")
STARTS = ("vfork", "posix_spawn", "posix_spawnp", "system")


class Case:
    """A directory with the programs in it."""

    def __init__(self, verdict, scratch):
        self.verdict, self.folder = verdict, scratch.file("starts", "x")[:-2]

    def build(self, name, source, *words, compiler=("gcc",)):
        with open(os.path.join(self.folder, name + ".c"), "w") as file:
            file.write(source)
        done = harness.execute([*compiler, "-g", name + ".c", "-o", name, *words], self.folder)
        if done.status:
            raise harness.Failure("cannot build %s: %s" % (name, done.err[-500:]))

    def execute(self, words, **changes):
        for old in os.listdir(self.folder):
            if ".ompp." in old:
                os.unlink(os.path.join(self.folder, old))
        return harness.execute(words, self.folder, **changes)

    def run(self, title, words, status, reports, said, before=(), **changes):
        """Runs ompp with words; said: parts of the one line of ours, or nothing; None: whatever is said."""
        # Samples begin before all these things, and make a report of what has no event: tests/sample.
        done = self.execute([*before, harness.command("ompp"), "--sample=off", *words], **changes)
        lines = len(done.messages()) if said is None else 1 if said else 0
        self.verdict.equal((done.status, len(done.reports()), len(done.messages())), (status, reports, lines),
                           "%s: status, reports, lines: %s" % (title, done.err))
        for part in said or ():
            self.verdict.check(part in done.err, "%s: '%s' is not said: %s" % (title, part, done.err))
        return done


def shells(case):
    """A shell that becomes the program is the program; what it starts is not."""
    for shell in filter(shutil.which, ("sh", "dash", "bash", "ksh", "zsh")):
        for script, reports in (("exec ./app", 1), ("./app; true", 0), ("(true); true", 0)):
            title = "%s -c '%s'" % (shell, script)
            case.run(title, ["--", shell, "-c", script], 0, reports, () if reports else ("nothing was measured", "--children"))
        job = os.path.join(case.folder, "job")
        for options in ([], ["--children"]):
            case.run("%s, data, %s" % (shell, options), [*options, "--data=none", "--", shell, "-c", "(true); true"], 0, 1, None, OMPP_JOB_DIR=job)
            case.verdict.equal(os.listdir(job), [], "%s, data, %s: files left" % (shell, options))
    for name, text, reports in (("last", "exec ./app", 1), ("inside", "./app\ntrue", 0)):
        with open(os.path.join(case.folder, name), "w") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(os.path.join(case.folder, name), 0o755)
        case.run("script " + name, ["--", "./" + name], 0, reports, () if reports else ("nothing was measured", "--children"))
    case.run("--children", ["--children", "--", "sh", "-c", "./app; ls >list; exec ./app"], 0, 2, ())
    case.run("three ranks say it once", ["--", "ls", "app"], 0, 0, ("nothing was measured",))
    case.run("the second rank", ["--", "ls", "app"], 0, 0, (), PMI_RANK=1, PMI_SIZE=2)


def replaced(case):
    """exec by itself: name and environment are what the program gives; an exec that fails is the program's."""
    case.build("exec", EXEC)
    path = case.folder + ":" + os.environ["PATH"]
    for way in BECOMES:
        done = case.run(way, ["--", "./exec", way], 0, 1, (), PATH=path)
        case.verdict.equal(done.out, "2\n", way + ": output")
    case.run("exec of itself, by the name that only it has", ["--", "./exec", "again"], 4, 0, ())
    case.run("exec that fails", ["--", "./exec", "missing"], 3, 0, ("nothing was measured",))
    refused(case)
    shutil.copy(os.path.join(case.folder, "app"), os.path.join(case.folder, "copy"))
    done = case.run("a file that has no name any more", ["--", "./exec", "deleted"], 0, 0, ())
    case.verdict.equal(done.out, "2\n", "a file that has no name any more: output")
    plain = harness.execute(["sh", "-c", "exec env"], case.folder, PATH=path)
    shutil.copy(shutil.which("printenv"), os.path.join(case.folder, "print"))
    plain = harness.execute(["sh", "-c", "exec ./print"], case.folder)
    done = case.run("environment", ["--outdir=.", "--appname=x", "--", "sh", "-c", "exec ./print"], 0, 0, ("nothing was measured",))
    keep = lambda text: sorted(line for line in text.splitlines() if not line.startswith("_="))  # noqa: E731
    case.verdict.equal(keep(done.out), keep(plain.out), "environment of the program that took over")
    done = case.run("options stay", ["--appname=renamed", "--", "sh", "-c", "exec ./app"], 0, 1, ())
    case.verdict.check(os.path.basename(done.reports()[0]).startswith("renamed."), "options stay: %s" % done.reports())


def refused(case):
    """What the system refuses, the program is told; what it does not, is what would run without us."""
    app = open(os.path.join(case.folder, "app"), "rb").read()
    loader = app[app.index(b"/lib"):].split(b"\0")[0]
    os.makedirs(os.path.join(case.folder, "first"), exist_ok=True)
    for name, content in (("foreign", app[:18] + b"\xfe\xfe" + app[20:]), ("loaderless", app.replace(loader, b"/nul" + loader[4:], 1)),
                          ("first/app", b"echo first\n")):
        with open(os.path.join(case.folder, name), "wb") as file:
            file.write(content)
        os.chmod(os.path.join(case.folder, name), 0o755)
    case.run("programs that the system refuses", ["--", "./exec", "refused"], 3, 0, ("nothing was measured",))
    if case.execute(["./exec", "asks"]).status == 3:
        case.run("a program that somebody writes into", ["--", "./exec", "busy"], 3, 0, ("nothing was measured",), PATH=case.folder + ":" + os.environ["PATH"])
    else:
        print("note: not tested: programs that somebody writes into, of which this system does not say it")
    case.build("ignores", IGNORES + EXEC.replace("#define _GNU_SOURCE", ""), "-rdynamic")
    done = case.run("a system that executes where it is to check alone", ["--", "./ignores", "execv"], 0, 1, ())
    case.verdict.equal(done.out, "2\n", "a system that executes where it is to check alone: output")
    done = case.run("a script without #! comes first", ["--", "./exec", "found"], 0, 0, None)
    case.verdict.equal(done.out, "first\n", "a script without #! comes first: output")
    # The loader as a command: the program is its argument.
    done = case.run("by the loader", ["--children", "--omp-runtime=auto", "--", "sh", "-c", "%s ./app; true" % loader.decode()], 0, 0, None)
    case.verdict.equal(done.out, "2\n", "by the loader: output")


def started(case):
    """What the program starts is another one."""
    path = case.folder + ":" + os.environ["PATH"]
    for way in STARTS:
        done = case.run(way, ["--", "./exec", way], 0, 0, ("nothing was measured",), PATH=path)
        case.verdict.equal(done.out, "2\n", way + ": output")
        done = case.run(way + " with --children", ["--children", "--", "./exec", way], 0, 1, None, PATH=path)
        case.verdict.equal(done.out, "2\n", way + " with --children: output")


def instrumented(case):
    """A program that kinst-ompp has built, and replaces itself by another such: the report is the last one's, and nothing stays."""
    if "opari" not in harness.sources():
        return
    for name, source, flags in (("app", APP, ()), ("exec", EXEC, ("-DTEAM",))):
        case.build(name, source, "-fopenmp", *flags, compiler=[harness.command("kinst-ompp"), "--with=opari", "gcc"])
    path, job = case.folder + ":" + os.environ["PATH"], os.path.join(case.folder, "job")
    for front in ([], [harness.command("ompp"), "--"]):
        for way in BECOMES + STARTS:
            title = "%s, kinst-ompp%s" % (way, ", ompp" if front else "")
            done = case.execute([*front, "./exec", way], PATH=path, OMPP_JOB_DIR=job)
            reports = 1 if way in BECOMES else 2
            case.verdict.equal((done.status, done.out, len(done.reports()), done.messages()), (0, "2\n", reports, []), title + ": " + done.err)
            case.verdict.equal(os.listdir(job), [], title + ": files left")


def later(case):
    """Libraries that no file names: the line says which options, and with them there is a report."""
    case.build("late", LATE)
    case.build("libkernel.so", KERNEL, "-fopenmp", "-shared", "-fPIC")
    words = ["--", "./late", "./libkernel.so", "kernel"]
    case.run("libgomp", words, 0, 0, ("nothing was measured", "libgomp.so", "use ompp --omp-runtime=gomp --"))
    case.run("libgomp, with samples", ["--sample=100", *words], 0, 1, ("use ompp --omp-runtime=gomp --: OpenMP is not measured",))
    case.run("with the option", ["--omp-runtime=gomp", *words], 0, 1, ())
    case.run("of a child", ["--children", "--", "sh", "-c", " ".join(words[1:]) + "; true"], 0, 0, ("--children --omp-runtime=gomp",))
    families = [f for f in ("openmpi", "mpich") if shutil.which("mpirun." + f) and shutil.which("mpicc." + f)]
    for family in families:
        if not os.path.exists(os.path.join(harness.BUILD, ".libs", "libompp-mpi-%s.so" % family)):
            print("note: ompp was not built for %s" % family)
            continue
        late_mpi(case, family)
        by_name(case, family)
        mixed(case, family)
        if len(families) == 2:
            wrong_family(case, family, *(f for f in families if f != family))


def launch_words(family):
    return ["mpirun." + family, *(["--oversubscribe", "--allow-run-as-root"] if family == "openmpi" else []), "-n", "2"]


def late_mpi(case, family):
    case.build("libgo-%s.so" % family, MPI, "-shared", "-fPIC", compiler=["mpicc." + family])
    launch = launch_words(family)
    words = ["--", "./late", "./libkernel.so", "kernel", "./libgo-%s.so" % family, "go"]
    use = "--mpi-family=" + family
    case.run(family, words, 0, 0, ("libgomp.so and libmpi", "use ompp --omp-runtime=gomp %s --" % use), before=launch)
    done = case.run(family + ": MPI alone", [use, *words], 0, 1, (), before=launch)
    case.verdict.check(any("--omp-runtime=gomp" in note.get("reason", "") for note in done.profile().coverage),
                       "%s: MPI alone: Coverage: %s" % (family, done.profile().coverage))
    case.run(family + ": OpenMP alone", ["--omp-runtime=gomp", *words], 0, 2, ("MPI is not measured", use), before=launch)
    case.run(family + ": both", [use, "--omp-runtime=gomp", *words], 0, 1, (), before=launch)
    other = "mpich" if family == "openmpi" else "openmpi"
    case.run(family + ": the other's wrappers", ["--mpi-family=" + other, "--omp-runtime=gomp", *words], 0, 2,
             ("--mpi-family=%s, and the program loads libmpi" % other, use), before=launch)


def by_name(case, family):
    """MPI's functions asked for in its own library; a library that looks for them there first; two threads at once."""
    launch, use = launch_words(family), "--mpi-family=" + family
    mpi = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[family]
    path = [p for p in ("/usr/lib/x86_64-linux-gnu/" + mpi, "/usr/lib/aarch64-linux-gnu/" + mpi) if os.path.exists(p)]
    done = case.run(family + ": asked for by name", [use, "--", "./late", *(path or [mpi]), "MPI_Init", *(path or [mpi]), "MPI_Finalize"], 0, 1, (),
                    before=launch)
    case.verdict.check(done.reports() and done.profile().find("MPI", name="MPI_Init"), family + ": asked for by name: not measured")
    case.build("deep", "#define _GNU_SOURCE\n#define DEEP\n" + LATE)
    words = ["--", "./deep", "./libgo-%s.so" % family, "go"]
    done = case.run(family + ": RTLD_DEEPBIND", [use, *words], 0, 0, ("nothing was measured", "MPI was opened with RTLD_DEEPBIND"), before=launch)
    case.verdict.check("use ompp" not in done.err, "%s: RTLD_DEEPBIND: an option that does not help: %s" % (family, done.err))
    words = ["--", "./deep", "./libkernel.so", "kernel", "./libgo-%s.so" % family, "go"]
    done = case.run(family + ": RTLD_DEEPBIND, OpenMP", [use, "--omp-runtime=gomp", *words], 0, 2,
                    ("MPI is not measured", "MPI was opened with RTLD_DEEPBIND"), before=launch)
    case.verdict.check(all(any("RTLD_DEEPBIND" in note.get("reason", "") for note in harness.ompp_profile.Profile(p).coverage) for p in done.reports()),
                       family + ": RTLD_DEEPBIND: not in Coverage")
    case.build("two", TWO, "-pthread")
    shutil.copy(os.path.join(case.folder, "libgo-%s.so" % family), os.path.join(case.folder, "libagain.so"))
    for which in ("0", "1") * 4:
        done = case.run("%s: two threads, %s" % (family, which), [use, "--", "./two", "./libgo-%s.so" % family, "./libagain.so", which], 0, 1, (), before=launch)
        case.verdict.check(done.reports() and done.profile().find("MPI", name="MPI_Barrier"), "%s: two threads: not measured" % family)


def mixed(case, family):
    """What a script starts is measured by what it needs, each, whoever starts it."""
    case.build("mpi", MPI + "int main(void) { return go(); }\n", compiler=["mpicc." + family])
    programs = {"app": ["./app"], "mpi": [*launch_words(family), "./mpi"]}
    if shutil.which("clang-19"):
        case.build("omp", APP, "-fopenmp", compiler=["clang-19"])
        programs["omp"] = ["./omp"]
    for name, script in (("script", "; ".join(" ".join(words) for words in programs.values()) + "; true"),
                         ("in the background", " & ".join(" ".join(words) for words in programs.values()) + " & wait")):
        done = case.run("%s, %s" % (name, family), ["--children", "--", "sh", "-c", script], 0, len(programs), None)
        for path in done.reports():
            profile = harness.ompp_profile.Profile(path)
            program = os.path.basename(path).split(".")[0]
            found = (len(profile.find("PARALLEL")), len(profile.find("MPI", name="MPI_Barrier")))
            case.verdict.equal(found, (0, 1) if program == "mpi" else (1, 0), "%s, %s: %s: regions" % (name, family, program))


def wrong_family(case, family, other):
    """The user says another MPI, and no launcher says which it is: the program runs, without its MPI measured."""
    case.build("mpi", MPI + "int main(void) { return go(); }\n", compiler=["mpicc." + family])
    right, wrong, root = "--mpi-family=" + family, "--mpi-family=" + other, dict(OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
    words = ["./late", "./libkernel.so", "kernel", "./libgo-%s.so" % family, "go"]
    if case.execute(words, **root).status or case.execute(["./mpi"], **root).status:
        print("note: not tested without a launcher: %s does not run here" % family)
        return
    case.run("linked with " + family, [wrong, "--", "./mpi"], 0, 0, None, **root)
    case.run("a child that is linked with " + family, ["--children", wrong, "--", "sh", "-c", "./mpi; true"], 0, 0, None, **root)
    done = case.run("opens " + family, [wrong, "--omp-runtime=gomp", "--", *words], 0, 1, (wrong + ", and the program loads libmpi", right), **root)
    case.verdict.check(any(note["kind"] == "mpi-off" and right in note.get("reason", "") for note in done.profile().coverage),
                       "opens %s: Coverage: %s" % (family, done.profile().coverage))
    case.run("opens %s alone" % family, [wrong, "--", words[0], *words[3:]], 0, 0, ("loads libmpi", right), **root)
    # There is little room where it is opened.
    case.build("small", SMALL, "-pthread")
    case.build("libnone.so", "int none;", "-shared", "-fPIC")
    if case.execute(["./small", "./libnone.so"]).status == 0:
        case.run("a small stack", [right, "--", "./small", "./libnone.so"], 0, 0, None)
    # What is not there is not there; what it asks for next is.
    name = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12"}
    with open(os.path.join(case.folder, "absent.py"), "w") as file:
        file.write(ABSENT % (name[other] + ".absent", name[family] + ".absent", family))
    python = [sys.executable, "absent.py"]
    if case.execute(python, **root).status == 0:
        case.run("asks for others before " + family, [right, "--", *python], 0, 1, (), **root)
    # Opened by a library that was opened itself.
    python = [sys.executable, "-c", "import ctypes, sys; sys.exit(ctypes.CDLL('./libgo-%s.so').go())" % family]
    if case.execute(python, **root).status == 0:
        case.run("Python opens " + family, [right, "--", *python], 0, 1, (), **root)
        case.run("Python opens %s, and not %s" % (family, other), [wrong, "--", *python], 0, 0, ("loads libmpi", right), **root)
    # By a name that is found by the run path of who opens it.
    case.build("late-here", LATE, "-Wl,-rpath,$ORIGIN")
    for option, n in ((right, 1), (wrong, 0)):
        done = case.run("by name, " + option, [option, "--omp-runtime=gomp", "--", "./late-here", "libkernel.so", "kernel", words[3][2:], "go"],
                        0, 1, None, **root)
        case.verdict.equal(len(done.profile().find("MPI", name="MPI_Barrier")), n, "by name, %s: MPI_Barrier" % option)


def main():
    verdict, scratch = harness.Verdict("starts"), harness.Scratch("starts")
    if not shutil.which("gcc"):
        harness.skip("no gcc")
    case = Case(verdict, scratch)
    case.build("app", APP, "-fopenmp")
    shells(case)
    replaced(case)
    started(case)
    later(case)
    instrumented(case)
    verdict.finish(scratch)


main()
