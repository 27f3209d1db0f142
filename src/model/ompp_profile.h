/**
 * \file
 * The profile as plain data: what was measured, on which rank and thread, and what was not. Made by ompp_collect() from
 * an arena, joined by ompp_profile_merge(), refined by src/analysis, read and written by src/report. No rendered text
 * in it.
 *
 * Everything is owned by the profile and freed by ompp_profile_free(). Times are ns. Indices are into the arrays of the
 * same profile; strings are indices into strings[], index 0 is "" and means none.
 *
 * A value is addressed by (node, location, set, object): a block of uint64. Locations are threads of ranks, and at most
 * one "rest" per profile: the sum over ranks that are not kept one by one. Object 0 = all data, object k > 0 = the data
 * structure objects[k - 1]; in sets that count per structure, 0 includes them and the data that belongs to none.
 *
 * Shape of a block of the set OMPP_SET_PHASES, for a construct with n phases: [1 + 4 n] =
 *     visits, then per slot of the construct: time, child, task, count
 *   visits  times the region was left                 time   ns spent in the phase, everything included
 *   count   times the phase was entered               child  of it, ns in regions below (not tasks)
 *                                                     task   of it, ns in tasks the thread executed meanwhile
 * Shape of the set OMPP_SET_MPI: [OMPP_METRIC_MPI_NUM]. Other sets: [number of metrics registered for it].
 */
#ifndef OMPP_PROFILE_H
#define OMPP_PROFILE_H

#include "base/ompp_table.h"
#include "model/ompp_tables.h"
#include "model/ompp_whatif_profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t ompp_str_t; /* index of a string */
#define OMPP_NONE UINT32_MAX

enum { OMPP_SLOT_TIME, OMPP_SLOT_CHILD, OMPP_SLOT_TASK, OMPP_SLOT_COUNT, OMPP_SLOT_NUM };

/** Index of a value in a block of OMPP_SET_PHASES. */
static inline unsigned ompp_value_index(unsigned slot, unsigned what) { return 1 + slot * OMPP_SLOT_NUM + what; }

typedef enum { OMPP_THREAD_INITIAL, OMPP_THREAD_TEAM, OMPP_THREAD_NESTED, OMPP_THREAD_OTHER } ompp_thread_kind_t;

/** A thread of a rank, or the sum over the ranks that are not kept (rank OMPP_NONE). */
typedef struct {
    uint32_t rank, tid;
    uint32_t kind; /* ompp_thread_kind_t */
    uint64_t begin_ns, end_ns;
} ompp_location_t;

/** How the measurement of a rank ended. */
typedef enum { OMPP_END_FINAL, OMPP_END_DUMP, OMPP_END_INCOMPLETE } ompp_end_t;

/** Name of the FUNCTION that has the samples which interrupted ompp's own work. */
#define OMPP_OWN_FUNCTION "(ompp)"

typedef struct {
    uint32_t rank; /* 0 without MPI */
    uint32_t pid;
    uint32_t nthreads;
    uint32_t end; /* ompp_end_t */
    ompp_str_t host, clock;
    ompp_str_t processors, numa_nodes; /* that it may use, as "0-3,8"; 0 = not known */
    uint32_t cores, bound;             /* of these processors; threads that are bound to one core each */
    /* Which run it belongs to, for joining what ranks leave behind; not in the XML. */
    ompp_str_t job, launch;          /* agreed upon by the ranks; as the launcher says */
    uint32_t launcher_rank;          /* OMPP_NONE = no launcher */
    uint64_t start_ticks, pid_space; /* which process: ompp_proc_find(); not in the XML */
    uint64_t begin_epoch_ns;         /* start of measurement, ns since 1970 */
    uint64_t duration_ns;            /* until MPI_Finalize or the end of the program */
    uint64_t user_ns, system_ns;     /* CPU time of the process since the start of measurement */
    /* picoseconds that an event of a kind takes, and of that in the region itself (ompp_cost.def); 0 = not known */
    uint32_t cost_ps[OMPP_COST_NUM], inside_ps[OMPP_COST_NUM];
} ompp_rank_t;

typedef struct {
    ompp_str_t path, id; /* id: build id in hex, or size and modification time */
    uint64_t base;       /* load address in the process that made the profile; offsets below are relative to it */
} ompp_module_t;

enum {
    OMPP_REGION_F_ADDRESS = 1,   /* known by address; lines not yet found */
    OMPP_REGION_F_COUNTED = 2,   /* counted, not timed */
    OMPP_REGION_F_LISTED = 4,    /* known from the source, whether it is executed or not */
    OMPP_REGION_F_FUNCTION = 8,  /* the address is the entry of a function, whose name is the region's */
    OMPP_REGION_F_OUTLINED = 16, /* a function that the compiler has made of a construct's body */
    OMPP_REGION_F_QUIET = 32,    /* a construct that the user does not want measured (noinstrument) */
    OMPP_REGION_F_LOOP = 64,     /* BARRIER: it is at the end of a loop, by the directive on its line (libgomp) */
    OMPP_REGION_F_NOWAIT = 128   /* SINGLE: it has nowait, its exit barrier is a barrier directly behind it (libgomp) */
};

/** A static thing in the program. Equal on all ranks by ompp_region_key(). */
typedef struct {
    uint32_t construct;  /* ompp_construct_t */
    uint32_t flags;      /* OMPP_REGION_F_* */
    ompp_str_t file;     /* path as the compiler wrote it; the text report shows its last part */
    ompp_str_t name;     /* critical, user region, MPI function; or "" */
    ompp_str_t function; /* enclosing function where known */
    uint32_t begin, end; /* source lines; 0 = unknown */
    uint32_t module;     /* index, or OMPP_NONE when not known by address */
    /* offset in the module of the code that begins it, already return address - 1; LOCK: of the lock */
    uint64_t addr;
    uint64_t addr_end; /* offset of the code that ends it; 0 = not known */
    /* CRITICAL: number of its lock in the process, also where its name is not known; 0 = none */
    uint32_t lock;
    /* ordinal of a lock on the heap, whose address is another on each rank: identifies it; 0 = none */
    uint64_t key;
    uint64_t iterations; /* of a loop: most in an execution; 0 = not known */
    uint32_t number;     /* 1-based number in reports, OMPP_NONE before ompp_analysis_number() */
} ompp_region_t;

/** The blocks of a node are in ascending order of (location, set, object); add them with ompp_profile_block() only. */
typedef struct {
    uint32_t location, set, object, nvalues;
    uint64_t *values; /* owned */
} ompp_block_t;

/** \return whether a block has what the phases of its node took, of all data. */
static inline bool ompp_block_is_phases(const ompp_block_t *block)
{
    return block->set == OMPP_SET_PHASES && block->object == 0;
}

/** Spread of execT of a node. Over threads: every thread that has a block. Over ranks: sums of a rank's threads. */
typedef struct {
    uint32_t over; /* in XML alone: 1 = over ranks */
    uint64_t count, sum, min, max;
    uint32_t min_rank, min_tid, max_rank, max_tid;
    double mean, m2; /* running mean and sum of squared deviations, ns and ns^2 */
} ompp_spread_t;

/** Region on a call path. Parents stand before their children; node 0 is the root (region OMPP_NONE). */
typedef struct {
    uint32_t region, parent; /* parent of the root: OMPP_NONE */
    uint64_t first_ns;       /* first entry on the lowest rank that entered it; orders children */
    uint32_t first_rank;
    uint32_t nblocks, ablocks;
    ompp_block_t *blocks;
    ompp_spread_t over_threads, over_ranks; /* of the ranks in the rest; zero otherwise */
} ompp_node_t;

/** A registered metric set beyond the built-in ones. */
typedef struct {
    ompp_str_t name, source, meaning;
    uint32_t set, index, unit, quality, reduce_threads, reduce_ranks, use;
} ompp_metric_t;

/** How the origin of a structure begins that the user has not named; behind it stands what was seen of it. */
#define OMPP_OBJECT_ALL "(all)"

/** A data structure that values belong to, equal on all ranks by its name. Addresses are those of the lowest rank that
 * has it. */
typedef struct {
    ompp_str_t name, origin; /* origin: who named it, e.g. "OMPP_DATA_ADDR" */
    uint64_t address, size;  /* of the range it was registered with first, bytes */
    /* bytes before and behind it that were counted too: 0 unless hardware ranges are coarse */
    uint64_t start_offset, end_offset;
    uint32_t nranges; /* times a range was registered under this name */
    uint32_t rank;    /* whose addresses these are */
} ompp_object_t;

/** One line of the Coverage section: kind is a row of ompp_coverage.def, subject what it is about, count how often. */
typedef struct {
    uint32_t kind;
    ompp_str_t subject, reason;
    uint64_t count;
    uint32_t nranks;     /* ranks that say it */
    uint32_t first_rank; /* the lowest of them; OMPP_NONE: of one rank, or not known */
} ompp_coverage_t;

typedef struct {
    ompp_str_t name, value;
} ompp_setting_t;

/** Messages from one rank to another, point-to-point, as the sender counts them. to: OMPP_NONE = to several that are
 * added up; from: the same, of such and of pairs with less than all that are listed. */
typedef struct {
    uint32_t from, to;
    uint64_t messages, bytes;
} ompp_message_t;

#define OMPP_MESSAGE_PEERS 256u   /* ranks that a rank tells apart */
#define OMPP_MESSAGE_PAIRS 16384u /* of ranks, that are listed; of more those with the most bytes */

typedef struct {
    /* The run. */
    ompp_str_t app, version, build_date, source; /* source: of OpenMP events, "OPARI2", "OMPT ..." or "none" */
    bool mpi;
    uint32_t nranks; /* size of MPI_COMM_WORLD; 1 without MPI */
    uint32_t nslots; /* sum over ranks of threads, all ranks */
    uint32_t nrest;  /* ranks summed in the rest location */
    /* of the ranks in the rest: max duration; sum duration x threads */
    uint64_t rest_duration_max_ns, rest_wall_threads_ns;
    uint64_t rest_user_ns, rest_system_ns;
    uint32_t rest_first_rank; /* lowest rank in the rest; OMPP_NONE when there is none */

    size_t nstrings, astrings;
    char **strings;
    size_t nranks_kept, aranks;
    ompp_rank_t *ranks; /* ascending by rank */
    size_t nlocations, alocations;
    ompp_location_t *locations;
    size_t nmodules, amodules;
    ompp_module_t *modules;
    size_t nregions, aregions;
    ompp_region_t *regions;
    size_t nnodes, anodes;
    ompp_node_t *nodes;
    size_t nmetrics, ametrics;
    ompp_metric_t *metrics;
    size_t nobjects, aobjects;
    ompp_object_t *objects;
    size_t ncoverage, acoverage;
    ompp_coverage_t *coverage;
    size_t nsettings, asettings;
    ompp_setting_t *settings; /* environment of rank 0 */
    size_t nmessages, amessages;
    ompp_message_t *messages; /* by from, to */
    ompp_whatif_t whatif;

    ompp_table_t index; /* of strings by their hashes: index + 1 */
    bool failed;        /* an allocation failed: the profile is not complete */
} ompp_profile_t;

typedef struct ompp_record ompp_record_t; /* which fields a kind of record has: ompp_record.h */

/**
 * \return new empty profile with the string "" and the root node; NULL when out of memory. Free with
 *         ompp_profile_free().
 */
ompp_profile_t *ompp_profile_new(void);

void ompp_profile_free(ompp_profile_t *profile);

/**
 * The ompp_profile_append and ompp_profile_add_* functions append and return the index of what they added;
 * ompp_profile_string returns an existing equal string. When out of memory they set profile->failed and return 0.
 */
ompp_str_t ompp_profile_string(ompp_profile_t *profile, const char *text);
uint32_t ompp_profile_append(ompp_profile_t *profile, const ompp_record_t *record, const void *item);

/* The records (ompp_record.h), and for each list ompp_profile_add_rank(profile, rank) and so on. */
#define OMPP_RECORD(id, type, element) extern const ompp_record_t ompp_record_##id;
#define OMPP_LIST(id, type, element, first, array, count, allocated)                        \
    extern const ompp_record_t ompp_record_##id;                                            \
    static inline uint32_t ompp_profile_add_##id(ompp_profile_t *profile, const type *item) \
    {                                                                                       \
        return ompp_profile_append(profile, &ompp_record_##id, item);                       \
    }
#define OMPP_LIST_BY_HAND(id, type, element, first, array, count, allocated) OMPP_RECORD(id, type, element)
#define OMPP_FIELD(id, member, type, must, attribute)
#define OMPP_NAMED(id, member, names, must, attribute)
#define OMPP_SET(id, member, names, attribute)
#define OMPP_INDEX(id, member, of, attribute)
#define OMPP_END
#include "model/ompp_record.def"
#undef OMPP_RECORD
#undef OMPP_LIST
#undef OMPP_LIST_BY_HAND
#undef OMPP_FIELD
#undef OMPP_NAMED
#undef OMPP_SET
#undef OMPP_INDEX
#undef OMPP_END

uint32_t ompp_profile_add_node(ompp_profile_t *profile, uint32_t region, uint32_t parent, uint64_t first_ns,
                               uint32_t first_rank);
uint32_t ompp_profile_add_setting(ompp_profile_t *profile, const char *name, const char *value);

/** \brief Adds a coverage line, or to the count of the equal one. nranks counts one more rank only for a new line. */
void ompp_profile_add_coverage(ompp_profile_t *profile, ompp_coverage_kind_t kind, const char *subject,
                               const char *reason, uint64_t count);

/** \brief Order of blocks in a node. \return negative, 0 or positive, as for qsort. */
int ompp_block_compare(const ompp_block_t *a, const ompp_block_t *b);

/**
 * \brief The block of (node, location, set, object), zeroed when new. Fast: binary search, and adding at the end is
 *        constant.
 * \return borrowed, shape [nvalues]; NULL when out of memory.
 */
uint64_t *ompp_profile_block(ompp_profile_t *profile, uint32_t node, uint32_t location, uint32_t set, uint32_t object,
                             uint32_t nvalues);

/** \brief The same, only looked up. \return borrowed, or NULL when there is none. */
const ompp_block_t *ompp_profile_find_block(const ompp_profile_t *profile, uint32_t node, uint32_t location,
                                            uint32_t set, uint32_t object);

/**
 * \brief Which structures have values of which sets somewhere, be they zero.
 * \param[in,out] found  gets the key ompp_hash_pair(set, object) of each; owned by the caller.
 * \return false when out of memory.
 */
bool ompp_profile_find_objects(const ompp_profile_t *profile, ompp_table_t *found);

/** \brief Number of values in a phase block of a construct: 1 + 4 x phases. */
static inline uint32_t ompp_phase_values(unsigned construct)
{
    return 1 + OMPP_SLOT_NUM * ompp_constructs[construct].nphases;
}

/** \return text of a string index, never NULL. */
static inline const char *ompp_profile_text(const ompp_profile_t *profile, ompp_str_t index)
{
    return index < profile->nstrings ? profile->strings[index] : "";
}

/** \return whether the user has not named a structure. */
static inline bool ompp_object_is_all(const ompp_profile_t *profile, const ompp_object_t *object)
{
    return __builtin_strncmp(ompp_profile_text(profile, object->origin), OMPP_OBJECT_ALL, sizeof OMPP_OBJECT_ALL - 1) ==
           0;
}

/** \return value of a setting of the run by its name; "" when there is none. */
static inline const char *ompp_profile_setting(const ompp_profile_t *profile, const char *name)
{
    for (size_t i = 0; i < profile->nsettings; i++)
        if (__builtin_strcmp(ompp_profile_text(profile, profile->settings[i].name), name) == 0)
            return ompp_profile_text(profile, profile->settings[i].value);
    return "";
}

/**
 * \brief Adds one observation to a spread. Of equal extremes the lowest (rank, tid) is named, whatever the order of
 *        adding.
 */
void ompp_spread_add(ompp_spread_t *spread, uint64_t value, uint32_t rank, uint32_t tid);

/** \brief Joins two spreads (Chan et al. 1983 for mean and variance). */
void ompp_spread_merge(ompp_spread_t *into, const ompp_spread_t *from);

#endif
