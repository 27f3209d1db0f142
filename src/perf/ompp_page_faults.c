/*
 * Back end "page-faults": which thread touches which structure first, where in the program. Every page fault is a
 * sample of its own with the address, so faults are counted exactly; they are counts of pages, not of accesses. With
 * most kernels a page that was read first has the system's page of zeros, and faults once more when it is written: that
 * is no first touch. Linux 5.11 and later write into the sample how large the page is that lies at the address before
 * the fault is served, and 0 when there is none: that is a first touch, whoever has mapped the memory and however. It
 * is believed after a trial with a page of our own.
 *
 * Elsewhere, pages that have faulted are remembered until they are mapped anew, as far as that is told: the record of a
 * mapping lies in the ring of the thread that maps, which may be read later than those of threads that touch the pages;
 * a thread that is not measured has no ring, and mremap leaves no record. First touches are an estimate then.
 */
#define _GNU_SOURCE
#include "base/ompp_pages.h"
#include "base/ompp_reserve.h"
#include "perf/ompp_backends_priv.h"
#include "perf/ompp_sampled_priv.h"

#include "model/ompp_profile.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING (1u << 20) /* bytes per thread, where the system gives them: 40,000 faults */
#define SOURCE "page faults"
#define ROW(name, quality, use, meaning)                                                                  \
    {                                                                                                     \
        name, OMPP_UNIT_COUNT, OMPP_QUALITY_##quality, OMPP_REDUCE_SUM, OMPP_REDUCE_SUM, SOURCE, meaning, \
            OMPP_USE_##use                                                                                \
    }

enum { TOUCHES, FAULTS, LOSSES, VALUES = LOSSES + OMPP_LOSS_NUM };

static const ompp_metric_row_t estimated =
    ROW("touches", SAMPLED, OBJECTS,
        "pages that this thread touched first: its faults of pages that are not known to have faulted");

static ompp_metric_row_t rows[] = {
    ROW("touches", EXACT, OBJECTS, "pages that this thread touched first: its faults where no page was"),
    ROW("faults", EXACT, VALUE, "all page faults of this thread; a page that is read and then written mostly has two"),
    OMPP_SAMPLED_LOSSES,
};
_Static_assert(sizeof rows / sizeof rows[0] == VALUES, "a row per value");

/* ---- Pages that were touched ------------------------------------------------------------------------------------- */

#define PAGE_BITS 12
#define WORD_BITS (PAGE_BITS + 6) /* address bits that a word of the map stands for */
#define SEEN_BYTES (1ull << (47 - PAGE_BITS - 3))
#define SEEN_PAGE 4096u /* bytes of the map that are given back together */

/* a bit per page of the address space; NULL: no addresses for it, each fault is a touch */
static _Atomic uint64_t *seen;

static void open_seen(void)
{
    seen = ompp_reserve(SEEN_BYTES);
    if (!seen)
        ompp_event_coverage(OMPP_COVERAGE_NOTE, "each page fault counts as a first touch",
                            "no addresses to remember pages (ulimit -v)");
    else
        ompp_event_coverage(
            OMPP_COVERAGE_NOTE, "first touches are estimated, page faults are exact",
            "this kernel does not tell whether there was a page (Linux 5.11 does), and memory that one thread maps and "
            "another touches, or that mremap brings, may look as if touched before");
}

/* Words from i to end, of one page of the map or less. */
static void clear(uint64_t i, uint64_t end)
{
    for (; i < end; i++)
        if (atomic_load_explicit(&seen[i], memory_order_relaxed))
            atomic_store_explicit(&seen[i], 0, memory_order_relaxed);
}

/*
 * Memory was mapped anew: nobody has touched it. Neighbours in its words go with it, which matters to those that were
 * read and are not written yet.
 */
static void forget(uint64_t address, uint64_t length)
{
    const uint64_t words = SEEN_PAGE / sizeof *seen, most = SEEN_BYTES / sizeof *seen;
    uint64_t i = address >> WORD_BITS, end = ((address + length - 1) >> WORD_BITS) + 1;

    if (length == 0 || i >= most || end <= i) return;
    if (end > most) end = most;
    const uint64_t whole = (i + words - 1) / words * words, whole_end = end / words * words;
    if (whole >= whole_end) {
        clear(i, end);
        return;
    }
    clear(i, whole);
    if (ompp_madvise((void *)&seen[whole], (whole_end - whole) * sizeof *seen, MADV_DONTNEED) != 0)
        clear(whole, whole_end);
    clear(whole_end, end);
}

static bool kernel_tells; /* whether there was a page */

static void look(ompp_perf_record_t *record)
{
    const uint64_t word = record->addr >> WORD_BITS, bit = 1ull << (record->addr >> PAGE_BITS & 63);

    if (kernel_tells) record->again = record->page_bytes != 0;
    if (!seen) return;
    /* ours, of remembering the program's */
    if (record->addr - (uintptr_t)seen < SEEN_BYTES) record->kind = OMPP_PERF_OTHER;
    else if (record->kind == OMPP_PERF_MAPPED) forget(record->addr, record->length);
    else if (record->kind == OMPP_PERF_SAMPLE && word < SEEN_BYTES / sizeof *seen)
        record->again = atomic_fetch_or_explicit(&seen[word], bit, memory_order_relaxed) & bit;
}

/* ---- The back end ------------------------------------------------------------------------------------------------ */

static void count(const ompp_perf_record_t *record, uint64_t weight, uint64_t *values)
{
    values[FAULTS] += weight;
    if (!record->again) values[TOUCHES] += weight;
}

static ompp_sampled_t backend = {
    .what = SOURCE,
    .rows = rows,
    .nvalues = VALUES,
    .count = count,
    .look = look,
    .attr = {{.type = PERF_TYPE_SOFTWARE,
              .config = PERF_COUNT_SW_PAGE_FAULTS,
              .sample_period = 1,
              .sample_type = PERF_SAMPLE_ADDR}},
    .nevents = 1,
    .ring = RING,
};

static void *begin(void) { return ompp_sampled_begin(&backend); }

/* ---- The start --------------------------------------------------------------------------------------------------- */

/*
 * A page that is read and then written: two faults, of which the first finds no page and the second one does. It is a
 * private one of a file in memory: some kernels give a page without a file to who reads it as if it had been written,
 * and there is no second fault.
 */
typedef struct {
    volatile char *page;
    uintptr_t bytes;
    unsigned n;
    bool right;
} trial_t;

static void visit_trial(void *data, ompp_perf_record_t *record)
{
    trial_t *trial = data;

    if (record->kind != OMPP_PERF_SAMPLE || record->addr - (uintptr_t)trial->page >= trial->bytes) return;
    trial->right &= (record->page_bytes != 0) == (trial->n++ != 0);
}

static void *page_of_file(size_t bytes)
{
    const int fd = memfd_create("ompp-trial", MFD_CLOEXEC);
    void *page = MAP_FAILED;

    if (fd < 0) return MAP_FAILED;
    if (ftruncate(fd, (off_t)bytes) == 0) page = ompp_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    return page;
}

static bool try_page(ompp_perf_t *event)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    trial_t trial = {page_of_file(bytes), bytes, 0, true};

    if (trial.page == MAP_FAILED)
        trial.page = ompp_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (trial.page == MAP_FAILED) return false;
    trial.page[0] = trial.page[0]; /* each of the two faults */
    ompp_perf_drain(event, visit_trial, &trial);
    ompp_munmap((void *)trial.page, bytes);
    return trial.right && trial.n == 2;
}

/* \return 0, or errno.  \param[out] tells  whether samples say if there was a page; NULL = not asked. */
static int try_open(bool *tells)
{
    ompp_perf_t events[OMPP_SAMPLED_EVENTS], leader;
    int error = ompp_sampled_open(&backend, events, &leader);

    if (error) return error;
    if (tells) *tells = try_page(&events[0]);
    ompp_perf_close(&events[0]);
    return 0;
}

static void choose_source_of_touches(void)
{
    struct perf_event_attr *attr = &backend.attr[0];
    bool tells = false;

    if (seen || kernel_tells) return;
    attr->sample_type |= OMPP_PERF_PAGE_SIZE;
    kernel_tells = try_open(&tells) == 0 && tells;
    if (kernel_tells) return;
    attr->sample_type &= ~(uint64_t)OMPP_PERF_PAGE_SIZE;
    attr->mmap_data = 1;
    rows[TOUCHES] = estimated;
    open_seen();
}

static bool start(char *why, size_t n)
{
    int error = try_open(NULL);

    if (error == EACCES || error == EPERM) {
        backend.attr[0].exclude_kernel = 1;
        error = try_open(NULL);
        if (!error)
            ompp_event_coverage(
                OMPP_COVERAGE_INVISIBLE, SOURCE,
                "pages that a system call touches first (a read into fresh memory): perf_event_paranoid is above 1");
    }
    if (error) {
        ompp_perf_why(error, SOURCE, why, n);
        return false;
    }
    snprintf(why, n, "no addresses for the map of structures (ulimit -v, vm.overcommit_memory), or too many meters");
    choose_source_of_touches();
    return ompp_sampled_map() && ompp_sampled_start(&backend);
}

const ompp_component_t ompp_backend_page_faults = {
    .name = "page-faults",
    .start = start,
    .thread_begin = begin,
    OMPP_SAMPLED_FUNCTIONS,
};
