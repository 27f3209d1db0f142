/*
 * The arena of a process that died, from its file.
 */
#define _GNU_SOURCE
#include "model/ompp_collect.h"

#include "base/ompp_error.h"
#include "base/ompp_pages.h"
#include "image/ompp_proc.h"
#include "model/ompp_collect_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PIECE (1u << 20) /* bytes copied at once */

static uint64_t latest(uint64_t a, uint64_t b) { return a > b ? a : b; }

/*
 * Time of the last event of a thread: of its nodes, and of the phases that its open frames are in. The frame above the
 * top one is what was closed last, and still has the time of that, unless it was only counted.
 */
static uint64_t last_of(const ompp_collecting_t *c, const ompp_a_thread_t *thread)
{
    uint64_t last = latest(latest(thread->begin_ns, thread->end_ns), thread->timed_ns);
    const ompp_a_node_t *node = ompp_collect_record(c, ompp_collect_follow(&thread->nodes), sizeof *node);
    ompp_off_t off = ompp_collect_follow(&thread->stack);

    for (uint32_t n = 0; node && n < ompp_collect_most(c); n++, node = ompp_collect_record(c, node->next, sizeof *node))
        last = latest(last, node->first_ns);
    for (uint32_t n = 0; off && n < ompp_collect_most(c); n++) {
        const ompp_a_stack_t *stack = ompp_collect_record(c, off, sizeof *stack);
        if (!stack || stack->top >= stack->capacity || !ompp_collect_has_frames(c, off, stack->top + 1)) break;
        uint32_t end = stack->top + 1;
        if (end < stack->capacity && ompp_collect_has_frames(c, off, end + 1)) end++;
        for (uint32_t i = 0; i < end; i++)
            if (stack->frames[i].stamp != UINT64_MAX) last = latest(last, stack->frames[i].stamp);
        off = stack->under;
    }
    return last;
}

static uint64_t last_event(const ompp_collecting_t *c, const ompp_a_header_t *header)
{
    uint64_t last = latest(header->begin_ns, header->end_ns);
    const ompp_a_whatif_t *w = ompp_collect_record(c, ompp_collect_follow(&header->whatif), sizeof *w);
    const ompp_a_thread_t *t = ompp_collect_record(c, ompp_collect_follow(&header->threads), sizeof *t);

    for (uint32_t n = 0; t && n < ompp_collect_most(c); n++, t = ompp_collect_record(c, t->next, sizeof *t))
        last = latest(last, last_of(c, t));
    return w ? latest(last, ompp_collect_load(&w->until_ns)) : last; /* clocks are written at an event, or at the end */
}

/* Until when its regions last: of a process that runs, until now. */
static uint64_t end_of(const ompp_collecting_t *c, const ompp_a_header_t *header, ompp_life_t life)
{
    struct timespec t;
    uint64_t last = last_event(c, header);

    if (life != OMPP_LIFE_RUNS || clock_gettime(CLOCK_MONOTONIC, &t) != 0) return last;
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return now > header->origin_ns ? latest(last, now - header->origin_ns) : last;
}

/* What is known of how it ended: said by itself, or nothing. */
static void note_end(const ompp_collecting_t *c, const ompp_a_header_t *header, ompp_life_t life,
                     ompp_profile_t *profile)
{
    const char *said = ompp_collect_text(c, ompp_collect_follow(&header->why));
    char rank[16], why[300];

    snprintf(rank, sizeof rank, "%u", profile->ranks[0].rank);
    snprintf(why, sizeof why,
             life == OMPP_LIFE_RUNS ? "%.200s%s; seen %.3f s after its start"
                                    : "%.200s%s; its last event was %.3f s after its start",
             *said                      ? said
             : life == OMPP_LIFE_RUNS   ? "the process still runs"
             : life == OMPP_LIFE_HIDDEN ? "whether it still runs is not seen from this PID namespace"
             : life == OMPP_LIFE_ENDS   ? "its measurement is over, the process is still there"
             : header->end_ns           ? "the process ended while its report was made"
                                        : "the process died",
             *said && life == OMPP_LIFE_RUNS ? "; the process still runs" : "",
             1e-9 * (double)profile->ranks[0].duration_ns);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_INCOMPLETE, rank, why, 1);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_NOTE, "CPU time is not known of processes that died or still run",
                              NULL, 1);
}

static ompp_life_t life_of(const ompp_collecting_t *c, const ompp_a_header_t *header)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    if (strcmp(host, ompp_collect_text(c, header->host)) != 0) return OMPP_LIFE_ELSEWHERE;
    const ompp_proc_state_t state = ompp_proc_find((pid_t)header->pid, header->start_ticks, header->pid_space);
    if (state != OMPP_PROC_THERE) return state == OMPP_PROC_GONE ? OMPP_LIFE_OVER : OMPP_LIFE_HIDDEN;
    return header->end_ns ? OMPP_LIFE_ENDS : OMPP_LIFE_RUNS;
}

/* NULL when it is no arena of ours. */
static const ompp_a_header_t *header_of(const ompp_collecting_t *c)
{
    const ompp_a_header_t *header = ompp_collect_record(c, OMPP_LAYOUT_HEADER, sizeof *header);

    if (!header || memcmp(header->magic, OMPP_LAYOUT_MAGIC, sizeof header->magic) != 0) return NULL;
    return header->layout == OMPP_LAYOUT_VERSION ? header : NULL;
}

/* data: bytes of it that are no holes. */
static ompp_profile_t *collect_dead(const char *base, uint64_t size, uint64_t data, ompp_life_t *life)
{
    uint64_t work = ompp_collect_work(data);
    ompp_collecting_t c = {.base = base, .size = size, .work = &work};
    const ompp_a_header_t *header = header_of(&c);
    char why[100];

    if (!header) return NULL;
    c.pending = ompp_collect_first_pending(header);
    *life = life_of(&c, header);
    ompp_profile_t *profile = ompp_collect_within(base, size, &work, end_of(&c, header, *life), OMPP_END_INCOMPLETE);
    if (profile && ompp_profile_check(profile, why, sizeof why)) { /* of another library, or damaged */
        ompp_profile_free(profile);
        return NULL;
    }
    if (!profile) return NULL;
    note_end(&c, header, *life, profile);
    if (!header->end_ns) ompp_collect_note_pending(&c, header, profile);
    if (*life == OMPP_LIFE_RUNS && profile->nlocations)
        ompp_profile_add_coverage(profile, OMPP_COVERAGE_TORN, NULL, NULL, profile->nlocations);
    return profile;
}

/* Every layout begins like this one. \return 0, -OMPP_E_VERSION, -OMPP_E_FORMAT when it is no arena. */
static int sniff(int fd)
{
    ompp_a_header_t header;
    const size_t begin = offsetof(ompp_a_header_t, pid);

    if (pread(fd, &header, begin, OMPP_LAYOUT_HEADER) != (ssize_t)begin) return -OMPP_E_FORMAT;
    if (memcmp(header.magic, OMPP_LAYOUT_MAGIC, sizeof header.magic) != 0) return -OMPP_E_FORMAT;
    return header.layout == OMPP_LAYOUT_VERSION ? 0 : -OMPP_E_VERSION;
}

static bool is_zero(const char *part, size_t n) { return !*part && memcmp(part, part + 1, n - 1) == 0; }

/*
 * Copies what has been written of a file, which may be a small part of it. The copy is zero before: holes need no
 * memory, also where the file system does not tell them. A file that has become shorter meanwhile ends there.
 * \param[out] data  bytes that are no holes.
 */
static bool copy_file(int fd, char *to, size_t size, uint64_t *data)
{
    off_t from = 0;

    *data = 0;
    while ((from = lseek(fd, from, SEEK_DATA)) >= 0 && (size_t)from < size) {
        const off_t hole = lseek(fd, from, SEEK_HOLE);
        const size_t end = hole > from && (size_t)hole < size ? (size_t)hole : size, rest = end - (size_t)from;
        const ssize_t n = pread(fd, to + from, rest < PIECE ? rest : PIECE, from);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        if (is_zero(to + from, (size_t)n)) ompp_madvise(to + from, (size_t)n, MADV_DONTNEED);
        else *data += (uint64_t)n;
        from += n;
    }
    return from >= 0 || errno == ENXIO;
}

int ompp_collect_fd(int fd, ompp_profile_t **profile, ompp_life_t *life)
{
    struct stat st;
    ompp_life_t found = OMPP_LIFE_OVER;
    uint64_t data;

    *profile = NULL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) return -OMPP_E_FORMAT;
    const int error = sniff(fd);
    if (error) return error;
    /* More than that no offset reaches. */
    const uint64_t size = (uint64_t)st.st_size < UINT32_MAX ? (uint64_t)st.st_size : UINT32_MAX;
    /* In memory of our own: a file that is mapped can change, and end the process by becoming shorter. */
    char *copy = ompp_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED) return -OMPP_E_NOMEM;
    if (copy_file(fd, copy, size, &data)) *profile = collect_dead(copy, size, data, &found);
    ompp_munmap(copy, size);
    if (life) *life = found;
    return *profile ? 0 : -OMPP_E_FORMAT;
}

int ompp_collect_file(const char *path, ompp_profile_t **profile, ompp_life_t *life)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    *profile = NULL;
    if (fd < 0) return -OMPP_E_OPEN;
    const int rc = ompp_collect_fd(fd, profile, life);
    close(fd);
    return rc;
}
