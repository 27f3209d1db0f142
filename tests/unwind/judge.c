/*
 * Preloaded into any program, judges each call path that src/unwind finds there. What it is compared with:
 *
 * OMPP_JUDGE=step     the program is run by single steps; calls are seen as they are made, so that the true path is known at each
 *                     instruction. Every OMPP_JUDGE_EVERY-th (17) is judged, until OMPP_JUDGE_STEPS (3,000,000) were made.
 * OMPP_JUDGE=sample   SIGPROF at OMPP_JUDGE_HZ (5000), compared with libunwind on the same context and, by a thread that gets copies
 *                     of the stack, with libdw; the program ends after OMPP_JUDGE_SAMPLES (no limit) or OMPP_JUDGE_SECONDS (3600).
 *
 * At the end one line of figures goes to the file OMPP_JUDGE_OUT, and a line for each of the first wrong paths.
 */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "unwind/ompp_unwind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef HAVE_LIBUNWIND
#include <libunwind.h>
#endif
#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>
#include <link.h>
#endif

#define FRAMES 1024
#define TRAP_FLAG 0x100
#define WRONG 64

typedef struct {
    uint64_t samples, root, wrong_paths, frames, right_frames, other_root, both, both_wrong, ns, other_ns, other_frames;
    uint64_t invalid, truncated;
    uint64_t dw_samples, dw_both, dw_differ, dw_frames; /* complete with libdw, of those it was given */
} figures_t;

static figures_t figures;
static ompp_unwind_thread_t thread;
static __thread ompp_unwind_thread_t *own __attribute__((tls_model("initial-exec")));
static bool steps, samples, finished;
static uint64_t nsteps, limit = 3000000, every = 17;

static struct {
    uintptr_t pc, got, expected;
    unsigned frame, end;
    const char *what;
} wrong[WRONG];
static unsigned nwrong;

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note_wrong(const char *what, uintptr_t pc, unsigned frame, uintptr_t got, uintptr_t expected, unsigned end)
{
    for (unsigned i = 0; i < nwrong; i++)
        if (wrong[i].pc == pc) return;
    if (nwrong == WRONG || (nwrong >= WRONG / 2 && strncmp(what, "failed", 6) != 0)) return;
    wrong[nwrong].what = what;
    wrong[nwrong].pc = pc;
    wrong[nwrong].frame = frame;
    wrong[nwrong].got = got;
    wrong[nwrong].expected = expected;
    wrong[nwrong++].end = end;
}

/* ---- Single steps ------------------------------------------------------------------------------------------------ */

#define DEEPEST 100000u

static struct {
    uintptr_t slot, address;
} shadow[DEEPEST];
static unsigned depth;
static bool was_call;

static bool is_call(const unsigned char *at)
{
    while (*at == 0x66 || *at == 0x67 || *at == 0x3e || *at == 0xf2 || (*at >= 0x40 && *at <= 0x4f)) at++;
    return *at == 0xe8 || (*at == 0xff && (at[1] >> 3 & 7) == 2);
}

static void judge_step(const ucontext_t *context)
{
    static ompp_unwind_frame_t frames[FRAMES];
    const size_t n = ompp_unwind_context(&thread, context, frames, FRAMES);
    const uintptr_t pc = frames[0].address;
    unsigned expected = depth;

    figures.samples++;
    figures.root += thread.end == OMPP_UNWIND_ROOT;
    for (size_t i = 1; expected && i < FRAMES; i++) {
        expected--;
        figures.frames++;
        if (i < n && frames[i].address == shadow[expected].address) {
            figures.right_frames++;
            continue;
        }
        note_wrong("step", pc, (unsigned)i, i < n ? frames[i].address : 0, shadow[expected].address, thread.end);
        figures.wrong_paths++;
        return;
    }
    if (thread.end != OMPP_UNWIND_ROOT && thread.end != OMPP_UNWIND_TRUNCATED)
        note_wrong("end", frames[n - 1].address, (unsigned)n - 1, pc, 0, thread.end);
}

static void on_trap(int signal, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    const uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP],
                    sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
    static uint64_t random = 88172645463325252u;

    (void)signal, (void)info;
    if (was_call && depth < DEEPEST) {
        shadow[depth].slot = sp;
        memcpy(&shadow[depth++].address, (void *)sp, 8);
    }
    while (depth && shadow[depth - 1].slot < sp) depth--;
    was_call = is_call((const unsigned char *)pc);
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    if (random % every == 0) judge_step(context);
    if (++nsteps >= limit) context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

#ifdef HAVE_LIBUNWIND
static size_t by_libunwind(ucontext_t *context, uintptr_t *addresses, bool *is_root)
{
    unw_cursor_t cursor;
    unw_word_t ip;
    size_t n = 0;
    int more;

    *is_root = false;
    if (unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME) != 0) return 0;
    do {
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (ip) addresses[n++] = ip;
        more = unw_step(&cursor);
    } while (more > 0 && n < FRAMES);
    *is_root = more == 0;
    return n;
}
#else
static size_t by_libunwind(ucontext_t *context, uintptr_t *addresses, bool *is_root)
{
    (void)context, (void)addresses;
    *is_root = false;
    return 0;
}
#endif

#define COUNT(field, n) __atomic_fetch_add(&figures.field, (n), __ATOMIC_RELAXED)

/* libdw allocates: the handler hands it registers, path and a copy of the stack; what finds no room is not compared. */
#ifdef HAVE_LIBDW
#define JOBS 64
#define COPIED ((size_t)256 << 10)

typedef struct {
    _Atomic int state; /* 0 = free, 1 = being filled, 2 = to be judged */
    Dwarf_Word registers[17];
    uintptr_t low;
    size_t size, n, m;
    uintptr_t path[FRAMES], other[FRAMES];
    char stack[COPIED];
} dw_job_t;

static dw_job_t *jobs;
static Dwfl *dwfl;

static void give_to_libdw(const ucontext_t *context, const ompp_unwind_frame_t *frames, size_t n)
{
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                                REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    const uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];

    if (!jobs || sp < own->stack_low || sp >= own->stack_high) return;
    for (unsigned j = 0; j < JOBS; j++) {
        int expected = 0;
        dw_job_t *job = &jobs[j];
        if (!atomic_compare_exchange_strong(&job->state, &expected, 1)) continue;
        for (unsigned r = 0; r < 17; r++) job->registers[r] = (Dwarf_Word)context->uc_mcontext.gregs[order[r]];
        job->low = sp - 128;
        job->size = own->stack_high - job->low < COPIED ? own->stack_high - job->low : COPIED;
        memcpy(job->stack, (void *)job->low, job->size);
        for (size_t i = 0; i < n; i++) job->path[i] = frames[i].address;
        job->n = n;
        atomic_store(&job->state, 2);
        return;
    }
}

static dw_job_t *current;

static pid_t dw_next(Dwfl *d, void *argument, void **thread_argument)
{
    (void)d, (void)argument;
    if (*thread_argument) return 0;
    *thread_argument = current;
    return 1;
}

static bool dw_thread(Dwfl *d, pid_t tid, void *argument, void **thread_argument)
{
    (void)d, (void)tid, (void)argument;
    *thread_argument = current;
    return true;
}

static bool dw_read(Dwfl *d, Dwarf_Addr at, Dwarf_Word *word, void *argument)
{
    (void)d, (void)argument;
    if (at - current->low > current->size - 8) return false;
    memcpy(word, current->stack + (at - current->low), 8);
    return true;
}

static bool dw_registers(Dwfl_Thread *t, void *argument)
{
    return dwfl_thread_state_registers(t, 0, 17, ((dw_job_t *)argument)->registers);
}

static int dw_frame(Dwfl_Frame *frame, void *argument)
{
    dw_job_t *job = argument;
    Dwarf_Addr pc;

    if (!dwfl_frame_pc(frame, &pc, NULL)) return -1;
    if (pc && job->m < FRAMES) job->other[job->m++] = pc;
    return DWARF_CB_OK;
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    *(unsigned long long *)argument = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

static void report_modules(void)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    static const Dwfl_Thread_Callbacks threads = {
        .next_thread = dw_next, .get_thread = dw_thread, .memory_read = dw_read, .set_initial_registers = dw_registers};
    static unsigned long long last;
    unsigned long long adds = 0;

    dl_iterate_phdr(count_adds, &adds);
    if (dwfl && adds == last) return;
    last = adds;
    if (dwfl) dwfl_end(dwfl);
    dwfl = dwfl_begin(&callbacks);
    dwfl_linux_proc_report(dwfl, getpid());
    dwfl_report_end(dwfl, NULL, NULL);
    dwfl_attach_state(dwfl, NULL, getpid(), &threads, NULL);
}

static void judge_by_libdw(void)
{
    for (unsigned j = 0; jobs && j < JOBS; j++) {
        if (atomic_load(&jobs[j].state) != 2) continue;
        current = &jobs[j];
        current->m = 0;
        report_modules();
        dwfl_getthread_frames(dwfl, 1, dw_frame, current);
        COUNT(dw_samples, 1);
        /* It ends without an error, too, where it finds nothing more. */
        if (current->m && current->other[current->m - 1] == current->path[current->n - 1]) {
            COUNT(dw_both, 1);
            COUNT(dw_frames, current->n);
            for (size_t i = 0; i < current->n || i < current->m; i++) {
                if (i < current->n && i < current->m && current->path[i] == current->other[i]) continue;
                COUNT(dw_differ, 1);
                note_wrong("differs-libdw", current->path[0], (unsigned)i, i < current->n ? current->path[i] : 0,
                           i < current->m ? current->other[i] : 0, 0);
                break;
            }
        }
        atomic_store(&current->state, 0);
    }
}
#else
static void give_to_libdw(const ucontext_t *context, const ompp_unwind_frame_t *frames, size_t n)
{
    (void)context, (void)frames, (void)n;
}
static void judge_by_libdw(void) {}
#endif

static void on_sample(int signal, siginfo_t *info, void *argument)
{
    ompp_unwind_frame_t frames[FRAMES];
    uintptr_t other[FRAMES];
    bool other_root;

    (void)signal;
    if (own && !finished) {
        const uint64_t start = now();
        size_t n = ompp_unwind_context(own, argument, frames, FRAMES);
        n = ompp_unwind_context(own, argument, frames, FRAMES);
        const uint64_t middle = now();
        const size_t m = by_libunwind(argument, other, &other_root);
        COUNT(samples, 1);
        COUNT(ns, (middle - start) / 2);
        COUNT(other_ns, now() - middle);
        COUNT(frames, n);
        COUNT(other_frames, m);
        for (size_t i = 1; i < n; i++) {
            if (frames[i].verdict != OMPP_UNWIND_INVALID) continue;
            COUNT(invalid, 1);
            note_wrong("invalid", frames[i].address, (unsigned)i, frames[i - 1].address, 0, own->end);
        }
        const bool root = own->end == OMPP_UNWIND_ROOT;
        COUNT(root, root);
        COUNT(truncated, own->end == OMPP_UNWIND_TRUNCATED);
        /* It ends without an error, too, where it finds nothing more. */
        other_root &= !root || (m && n && other[m - 1] == frames[n - 1].address);
        COUNT(other_root, other_root);
        if (!root && own->end != OMPP_UNWIND_TRUNCATED)
            note_wrong("failed", frames[n - 1].address, (unsigned)n - 1, frames[0].address,
                       n > 1 ? frames[n - 2].address : 0, own->end);
        if (root) give_to_libdw(argument, frames, n);
        if (root && other_root) {
            COUNT(both, 1);
            for (size_t i = 0; i < n || i < m; i++)
                if (i >= n || i >= m || frames[i].address != other[i]) {
                    COUNT(both_wrong, 1);
                    note_wrong("differs", frames[0].address, (unsigned)i, i < n ? frames[i].address : 0,
                               i < m ? other[i] : 0, 0);
                    break;
                }
        }
    }
    if (info->si_code == POLL_IN || info->si_code == POLL_HUP) ioctl(info->si_fd, PERF_EVENT_IOC_REFRESH, 1);
}

static int start_timer(uint64_t hz)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = 1000000000u / hz,
                                   .exclude_kernel = 1,
                                   .disabled = 1,
                                   .wakeup_events = 1};
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};

    if (fd < 0) return -1;
    fcntl(fd, F_SETFL, O_ASYNC);
    fcntl(fd, F_SETSIG, SIGPROF);
    fcntl(fd, F_SETOWN_EX, &owner);
    ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
    return fd;
}

static void begin_thread(void)
{
    ompp_unwind_thread_t *t = calloc(1, sizeof *t);

    ompp_unwind_thread_begin(t);
    own = t;
    if (start_timer(number("OMPP_JUDGE_HZ", 5000)) < 0) {
        fprintf(stderr, "judge: no perf_event_open\n");
    }
}

typedef struct {
    void *(*function)(void *);
    void *argument;
} job_t;

static void *run_job(void *argument)
{
    const job_t job = *(job_t *)argument;

    free(argument);
    begin_thread();
    return job.function(job.argument);
}

int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    job_t *job = malloc(sizeof *job);

    if (!real)
        real =
            (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    if (!samples || !job) return real(t, attr, function, argument);
    *job = (job_t){function, argument};
    return real(t, attr, run_job, job);
}

/* ---- Start and end ----------------------------------------------------------------------------------------------- */

static void print_place(FILE *out, uintptr_t at)
{
    Dl_info info;

    if (at && dladdr((void *)at, &info) && info.dli_fname)
        fprintf(out, " %s+%#lx(%s)", strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname,
                at - (uintptr_t)info.dli_fbase, info.dli_sname ? info.dli_sname : "?");
    else fprintf(out, " %#lx", at);
}

static void finish(void)
{
    const char *path = getenv("OMPP_JUDGE_OUT");
    FILE *out = path ? fopen(path, "a") : stderr;

    if (finished || !out || !figures.samples) return;
    finished = true;
    fprintf(out,
            "mode=%s samples=%lu root=%lu truncated=%lu frames=%lu wrong=%lu right_frames=%lu invalid=%lu "
            "other_root=%lu both=%lu differ=%lu dw_samples=%lu dw_both=%lu dw_frames=%lu dw_differ=%lu "
            "ns_frame=%.1f other_ns_frame=%.1f recipes=%lu inferred=%lu\n",
            steps ? "step" : "sample", figures.samples, figures.root, figures.truncated, figures.frames,
            figures.wrong_paths, figures.right_frames, figures.invalid, figures.other_root, figures.both,
            figures.both_wrong, figures.dw_samples, figures.dw_both, figures.dw_frames, figures.dw_differ,
            figures.frames ? (double)figures.ns / figures.frames : 0,
            figures.other_frames ? (double)figures.other_ns / figures.other_frames : 0, thread.recipes,
            thread.inferred);
    for (unsigned i = 0; i < nwrong; i++) {
        fprintf(out, "  %s frame=%u end=%s pc", wrong[i].what, wrong[i].frame, ompp_unwind_end_name(wrong[i].end));
        print_place(out, wrong[i].pc);
        fprintf(out, " got");
        print_place(out, wrong[i].got);
        fprintf(out, " expected");
        print_place(out, wrong[i].expected);
        fputc('\n', out);
    }
    if (out != stderr) fclose(out);
}

static int (*real_main)(int, char **, char **);

static void *watch(void *unused)
{
    const uint64_t most = number("OMPP_JUDGE_SAMPLES", UINT64_MAX);

    (void)unused;
    for (uint64_t end = now() + 1000000000u * number("OMPP_JUDGE_SECONDS", 3600);
         __atomic_load_n(&figures.samples, __ATOMIC_RELAXED) < most && now() < end;) {
        judge_by_libdw();
        usleep(2000);
    }
    finish();
    _exit(0);
}

static int judged_main(int argc, char **argv, char **environment)
{
    const char *mode = getenv("OMPP_JUDGE");
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    int result;

    if (!mode) return real_main(argc, argv, environment);
    steps = strcmp(mode, "step") == 0;
    limit = number("OMPP_JUDGE_STEPS", limit);
    every = number("OMPP_JUDGE_EVERY", every);
    unsetenv("LD_PRELOAD");
#ifdef HAVE_LIBDW
    jobs = calloc(JOBS, sizeof *jobs);
#endif
    const int started = getenv("OMPP_JUDGE_SIMPLE") ? 0 : ompp_unwind_start();
    if (started) fprintf(stderr, "judge: ompp_unwind_start: %d %s\n", started, ompp_unwind_why_simple());
    atexit(finish);
    action.sa_sigaction = steps ? on_trap : on_sample;
    sigaction(steps ? SIGTRAP : SIGPROF, &action, NULL);
    samples = !steps;
    if (!steps) {
        pthread_t watcher;
        int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
            (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
        create(&watcher, NULL, watch, NULL);
        begin_thread();
        return real_main(argc, argv, environment);
    }
    ompp_unwind_thread_begin(&thread);
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    result = real_main(argc, argv, environment);
    __asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    return result;
}

int __libc_start_main(int (*start)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
        (int (*)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                 void *))dlsym(RTLD_NEXT, "__libc_start_main");

    real_main = start;
    return real(judged_main, argc, argv, init, fini, rtld_fini, stack_end);
}
