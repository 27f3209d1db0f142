/**
 * \file
 * Layout of the arena: the records of a running measurement, as offsets from the start of the mapping. The runtime
 * writes them, ompp_collect() reads them, in the same process or from the file of one that died. Fixed for a given
 * OMPP_LAYOUT_VERSION.
 *
 * Records are filled first and then linked by a release store, so that a reader never sees a half-made one. Lists are
 * in order newest first. One thread writes a node or a frame; others only read it.
 */
#ifndef OMPP_LAYOUT_H
#define OMPP_LAYOUT_H

#include "base/ompp_arena.h"
#include "model/ompp_counted.h"
#include "model/ompp_tables.h"
#include "model/ompp_whatif_profile.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define OMPP_LAYOUT_MAGIC "OMPPARNA"
#define OMPP_LAYOUT_VERSION 25u
#define OMPP_LAYOUT_ENDIAN 0x01020304u
#define OMPP_LAYOUT_HEADER 16u /* offset of the header: the first record of the arena */

typedef _Atomic ompp_off_t ompp_link_t;

/** A zero-terminated text. */
typedef struct {
    uint32_t length;
    char text[];
} ompp_a_string_t;

typedef struct {
    char magic[8];
    uint32_t layout, endian; /* OMPP_LAYOUT_VERSION, OMPP_LAYOUT_ENDIAN */
    uint32_t pid;
    int32_t rank; /* -1 = no MPI */
    uint32_t size;
    uint32_t tsc;                    /* 1: time stamps from the counter */
    uint64_t origin_epoch;           /* ns since 1970 at time 0 */
    uint64_t origin_ns;              /* CLOCK_MONOTONIC at time 0 */
    uint64_t begin_ns;               /* our library was loaded; less our own start */
    uint64_t end_ns;                 /* 0 while running */
    uint64_t user0_ns, system0_ns;   /* CPU time of the process at begin_ns */
    uint64_t start_ticks, pid_space; /* of the process: ompp_proc_start(), ompp_proc_space() */
    int32_t launcher_rank;           /* as the launcher gave it, before MPI tells; -1 = none */
    ompp_off_t host, app, source, version, built;
    ompp_off_t launch;     /* what the launcher calls this job; 0 = no launcher */
    ompp_link_t job;       /* name of this run that the ranks have agreed upon; 0 = not yet */
    ompp_link_t why;       /* how it ended, when it did not end well */
    _Atomic uint32_t noff; /* times measurement was switched off */
    uint32_t unnoted;      /* coverage notes that found no room */
    ompp_link_t modules, regions, threads, coverage, metrics, objects, settings, messages;
    uint32_t cost_ps[OMPP_COST_NUM], inside_ps[OMPP_COST_NUM]; /* of one event, and of that in the region itself */
    ompp_link_t whatif;                                        /* causal profile; 0 = none */
    ompp_link_t pending;                                       /* counts that are not handed over */
    _Atomic uint64_t metered; /* sets whose values are handed over when a thread's place changes: bit n for set n */
} ompp_a_header_t;

typedef struct {
    ompp_off_t next;
    ompp_off_t path, id;
    uint32_t index;             /* from 0, in order of discovery */
    uint64_t base;              /* dlpi_addr */
    uint64_t low, high;         /* addresses of its loaded segments; 0 = it was unloaded */
    uint64_t was_low, was_high; /* as long as it was loaded */
} ompp_a_module_t;

typedef struct {
    ompp_off_t next;
    uint32_t index; /* from 0, in order of definition */
    uint16_t construct, flags;
    uint32_t nphases;
    ompp_off_t file, name, module;
    uint32_t begin, end;
    uint64_t addr;
    _Atomic uint64_t addr_end;
    _Atomic uint64_t lock; /* what tells the lock of a critical section from others; 0 = not known */
    uint64_t key;
    _Atomic uint64_t iterations; /* of a loop: most in an execution, where the source tells them */
    ompp_link_t exec;            /* the TASKEXEC of a TASK, and the TASK of a TASKEXEC */
    /* TASKEXEC: each task is timed: they take long, or contain something. Means nothing to readers */
    _Atomic uint32_t timed_each;
} ompp_a_region_t;

/** Values of one phase; with visits the shape of OMPP_SET_PHASES. */
typedef struct {
    uint64_t time, child, task, count;
} ompp_a_slot_t;

/** Code of a node of a call path: address of a call (the return address - 1), or of an instruction that was to run. */
#define OMPP_CODE_EXACT ((uint64_t)1 << 63) /* added to the latter */
#define OMPP_CODE_UNKNOWN ((uint64_t)1)     /* callers that were not found */
#define OMPP_CODE_OWN ((uint64_t)2)         /* ompp's own work */

typedef struct {
    ompp_off_t next;   /* of the thread's nodes */
    ompp_off_t region; /* 0 = root, or a function of a call path */
    ompp_off_t parent; /* 0 = root */
    ompp_off_t last;   /* child entered last: first guess at the next entry */
    uint16_t construct, nphases;
    ompp_link_t sets; /* chain of further value blocks */
    ompp_off_t brief; /* one that comes often, and is timed now and then; 0 = each time. Means nothing to readers */
    uint64_t first_ns;
    uint64_t code; /* of a call path; else 0 */
    uint64_t visits;
    ompp_a_slot_t slot[];
} ompp_a_node_t;

/** A value block of a set other than OMPP_SET_PHASES. */
typedef struct {
    ompp_off_t next;
    uint32_t set, object, nvalues;
    uint64_t values[];
} ompp_a_block_t;

/** How a node that comes often is timed. Means nothing to readers. All zero: each time. */
typedef struct {
    uint32_t left; /* executions until one is timed, with that one; 0 or 1: the next one is */
    uint32_t span; /* for how many that one stands; 0: for itself */
    uint32_t mean; /* of these, at present */
    uint32_t tick; /* timed since it was looked at how often they come */
    uint32_t seen; /* executions that the thread had timed then, of all its nodes */
    uint32_t random;
    uint32_t inside_ns; /* what an execution that is timed has of our own in each phase */
    uint32_t inner_ns;  /* of an open creation of a task: what timing the task in it has taken */
    bool never;
    ompp_off_t inner;  /* of an open creation: the node of the task in it, which stands for others; 0 = none */
    uint64_t looked;   /* when it was looked at */
    ompp_off_t values; /* of OMPP_METRIC_THINNED and following; 0 = no room */
} ompp_a_brief_t;

/** How tasks of a node are timed that come often, on one thread. Means nothing to readers. */
typedef struct {
    uint32_t counted;   /* tasks since the last timed one, in one place: their time is not in the node yet */
    uint32_t unwaited;  /* tasks whose wait is not in the values yet */
    ompp_off_t at;      /* that place: the node of the frame that they interrupted, */
    uint32_t slot;      /* and its phase */
    uint32_t inside_ns; /* of a timed task, what is ours */
    uint32_t usual_ns;  /* what one takes: a mean in which the last ones weigh most */
    uint32_t each_ns;   /* what the last timed one says of each counted one */
    uint32_t longs;     /* timed tasks that took long, one after another */
    bool never;         /* each is timed */
    ompp_off_t values, starts, ends; /* of OMPP_METRIC_THINNED, TASK_STARTS, TASK_ENDS and following */
} ompp_a_tasks_t;

/** A team from its fork until the last member has closed its frame. */
typedef struct {
    ompp_off_t next;      /* of the forking thread's team records, all states */
    ompp_off_t next_free; /* of those that are free for reuse */
    ompp_off_t fork_thread, fork_node;
    uint16_t level;        /* 1 = not within another one */
    _Atomic uint16_t refs; /* workers' frames that point here, but those of threads that hold it (ompp_thread_t) */
    /* The team of this level that the forking thread joined last; 0 = none. Most workers come from that one, and need
     * not look at its record, which the forking thread has just written. */
    ompp_off_t before;
    uint64_t fork;
    _Atomic uint64_t release; /* the forking thread left the end barrier; 0 = not yet */
    _Atomic uint64_t join;    /* 0 = not yet */
    uint64_t before_release, before_join;
} ompp_a_team_t;

enum {
    OMPP_FRAME_F_ENDED = 1,   /* its end is known (stamp); closed at the next event */
    OMPP_FRAME_F_BARRIER = 2, /* was ended, now in the exit barrier that follows */
    OMPP_FRAME_F_TEAM = 4,    /* this thread's part of a team */
    OMPP_FRAME_F_LEFT = 8,    /* team frame whose member has ended: closed at the team's join */
    /* entered again while it was the innermost: those count, and take no time of their own */
    OMPP_FRAME_F_RECURSIVE = 16,
    OMPP_FRAME_F_BASE = 32,   /* frame 0: no exit closes it */
    OMPP_FRAME_F_UNTIMED = 64 /* counted without a time: entered and stamped at UINT64_MAX, and is not in anybody's */
};

typedef struct {
    union {
        struct {
            ompp_off_t node;
            union {
                struct {
                    uint16_t slot, flags;
                };
                uint32_t state; /* both: 0 in the first phase of what needs no care */
            };
        };
        uint64_t place; /* all three */
    };
    uint64_t enter, stamp; /* entered; start of the current phase */
    uint64_t credited;     /* part of the time since enter that an earlier parent was given */
    uint32_t again;        /* RECURSIVE: how often, of those that are open */
    uint32_t inlined;      /* of these, functions whose calls are merged by the compiler: one frame of the stack */
    /* of a function: address of the stack it works on; 0 = not known. Means nothing to readers */
    uint64_t stack;
    uint64_t caller; /* stack pointer of the code that entered the region; 0 = not known. The same */
    union {
        ompp_off_t team; /* team frames */
        uint32_t call;   /* of a function: where it calls the hook, low bits. Means nothing to readers */
    };
    ompp_off_t outer_base; /* team frames: base node before */
} ompp_a_frame_t;

/** Open frames of an implicit task (frame 0: the thread's root) or of an explicit task (frame 0: its TASKEXEC). */
typedef struct {
    ompp_off_t under; /* stack of the task that this one interrupted; 0 = none */
    uint32_t top;     /* index of the innermost open frame */
    uint32_t capacity;
    uint32_t explicit_task;
    uint32_t depth;             /* how many tasks lie below it */
    uint32_t skipped;           /* explicit, suspended: open regions that are not measured */
    uint32_t lost;              /* and how they are counted: ompp_loss_t */
    uint64_t begin;             /* explicit: start of the current run */
    _Atomic uint64_t suspended; /* explicit: since when; 0 = running */
    /* explicit: another thread said that it ended then, while it lay on this one; 0 = not, 1 = and it is being
     * closed */
    _Atomic uint64_t over;
    uint64_t ran, lent; /* time of runs that are over; of tasks that interrupted it */
    ompp_a_frame_t frames[];
} ompp_a_stack_t;

typedef struct {
    ompp_off_t next;
    ompp_off_t name, value;
} ompp_a_setting_t;

/**
 * Where a thread stands among nested teams: its number in the team of each level, 10 bits each, the outermost in the
 * highest ones; 0 for members 0. Of all threads with one such place, one is in a team at a time.
 */
#define OMPP_A_PATH_UNKNOWN UINT64_MAX
#define OMPP_A_PATH_LEVELS 6u
#define OMPP_A_PATH_NUMBERS 1024u

/** What threads count that they could not keep: rows of ompp_loss.def. */
typedef enum {
    OMPP_LOSS_NONE,
#define OMPP_LOSS(id, kind, subject, reason) OMPP_LOSS_##id,
#include "model/ompp_loss.def"
#undef OMPP_LOSS
    OMPP_LOSS_NUM
} ompp_loss_t;

#define OMPP_A_THREAD_UNUSED 0xffffffffu /* kind of a record that waits for a thread */

typedef struct {
    ompp_off_t next;
    uint32_t ordinal; /* from 0, in order of creation */
    uint32_t kind;    /* ompp_thread_kind_t, or OMPP_A_THREAD_UNUSED */
    uint32_t index;   /* number in the first team it joined */
    uint32_t os_tid;
    uint64_t begin_ns;
    uint64_t end_ns; /* 0 = alive */
    ompp_off_t root;
    ompp_link_t nodes;
    ompp_link_t stack;                         /* innermost */
    uint64_t lost[OMPP_LOSS_NUM];              /* [ompp_loss_t] */
    uint64_t unclosed, unopened;               /* frames closed by an outer exit; exits of regions that were not open */
    uint64_t left;                             /* of functions, closed by an outer exit (longjmp) */
    ompp_off_t first_unclosed, first_unopened; /* regions; 0 = none */
    uint64_t timed_ns;                         /* when it left a brief region last that was timed; 0 = not yet */
    uint64_t own_samples, own_ns;              /* samples that interrupted ompp's own work */
    uint64_t path;                             /* OMPP_A_PATH_UNKNOWN: none that is its own */
    _Atomic uint64_t beside; /* not 0: was in a team while another record of its kind and index was, too */
} ompp_a_thread_t;

typedef struct {
    ompp_off_t next;
    uint32_t kind;
    ompp_off_t subject, reason;
    uint64_t count;
} ompp_a_coverage_t;

typedef struct {
    ompp_off_t next;
    uint32_t set, index, unit, quality, reduce_threads, reduce_ranks, use;
    ompp_off_t name, source, meaning;
} ompp_a_metric_t;

/** A data structure. Only offsets and nranges change after it is linked. */
typedef struct {
    ompp_off_t next;
    uint32_t id; /* from 1, in order of registration; "object" of value blocks */
    ompp_off_t name, origin;
    uint64_t address, size;                    /* of the range it was registered with first */
    _Atomic uint64_t start_offset, end_offset; /* bytes before and behind it that were counted too */
    _Atomic uint32_t nranges;
} ompp_a_object_t;

/** What the items of a page of counts are. */
enum { OMPP_A_PAGE_COUNTS, OMPP_A_PAGE_BLOCKS, OMPP_A_PAGE_NUM }; /* ompp_counted_t; uint64_t[2] */

/** A page of counts. Programs count into it without knowing of the arena. */
typedef struct {
    ompp_off_t next;
    uint32_t kind;
    uint32_t first, n; /* objects: first, first + 1, ... */
    ompp_off_t items;
    uint64_t where; /* the address where the thread has it, too. Means nothing to readers */
} ompp_a_page_t;

/**
 * What a thread has counted since its place changed last: belongs to the node that it is at, and is not in that node's
 * values yet. Handing over goes object by object, each in one step: while redo.is is not 0, the values of the block at
 * redo.block and the total are those of redo, and the object's counts are none.
 */
typedef struct {
    ompp_off_t next;
    uint32_t set;
    _Atomic ompp_off_t node; /* 0 = none: what is counted belongs to nobody */
    ompp_link_t pages;
    uint64_t total[OMPP_COUNTED_VALUES]; /* handed over in this change of place, for all data together */
    struct {
        _Atomic uint32_t is;
        /* 0 with block 0's values: data that belongs to none; OMPP_A_NO_OBJECT: the total itself is handed over */
        uint32_t object;
        ompp_off_t block; /* of its values; 0 = there is no room for it */
        uint64_t values[OMPP_COUNTED_VALUES], total[OMPP_COUNTED_VALUES];
    } redo;
} ompp_a_pending_t;

#define OMPP_A_NO_OBJECT 0xffffffffu

/** Messages to a rank; to several, OMPP_MESSAGE_OTHERS. Counted by any thread. */
typedef struct {
    ompp_off_t next;
    uint32_t to;
    _Atomic uint64_t messages, bytes;
} ompp_a_message_t;

#define OMPP_MESSAGE_OTHERS UINT32_MAX

#define OMPP_WHATIF_IDEAL ((ompp_off_t)1) /* in place of a region: the record of ideal clocks */

/** The same as ompp_whatif_region_t; clocks are written at progress points and at the end, under a sequence that is odd
 * meanwhile. */
typedef struct {
    ompp_off_t next;
    ompp_off_t region, point; /* region: 0 = outside of all, OMPP_WHATIF_IDEAL; point: 0 = what the program gains */
    _Atomic uint32_t sequence;
    ompp_whatif_region_t result; /* region, point: not used */
} ompp_a_whatif_region_t;

/** The same as ompp_whatif_point_t, counted by any thread. */
typedef struct {
    ompp_off_t next;
    ompp_off_t name, region; /* region: of an automatic point */
    uint32_t kind, automatic;
    _Atomic uint64_t visits, begins, in_flight_ns;
    _Atomic uint64_t since_ns; /* latency: until when in_flight_ns is counted */
} ompp_a_whatif_point_t;

typedef struct {
    uint32_t mode;
    _Atomic ompp_off_t why; /* string */
    _Atomic uint64_t paid_ns, events, cost_ns, lost, lost_ns, worked_ns, outside_ns, suspended_ns, replayed, kept,
        passed_ns;
    _Atomic uint64_t until_ns;     /* when these, and virtual clocks of regions, were written last; 0 = not yet */
    _Atomic uint32_t is_suspended; /* since then no clock goes on */
    ompp_link_t regions, points;
    _Atomic uint32_t sequence; /* of control; odd while it is written */
    ompp_whatif_clock_t control;
} ompp_a_whatif_t;

#endif
