/*
 * The records of the compact form: which fields each has, in which order. Writer and reader go through these tables.
 */
#include "model/ompp_pack_priv.h"
#include "model/ompp_profile.h"

/* T: the type of the record. */
#define FIELD(name, kind)                                              \
    {                                                                  \
        offsetof(T, name), sizeof((T *)NULL)->name, OMPP_PACKED_##kind \
    }
#define NUMBER(name) FIELD(name, NUMBER)
#define INDEX(name) FIELD(name, INDEX)
#define RECORD(name, ...)                                    \
    static const ompp_packed_field_t name[] = {__VA_ARGS__}; \
    const ompp_packed_t ompp_packed_##name = {name, sizeof name / sizeof name[0], sizeof(T)};

#define T ompp_profile_t
RECORD(profile, NUMBER(app), NUMBER(version), NUMBER(build_date), NUMBER(source), NUMBER(mpi), NUMBER(nranks),
       NUMBER(nslots), NUMBER(nrest), NUMBER(rest_duration_max_ns), NUMBER(rest_wall_threads_ns), NUMBER(rest_user_ns),
       NUMBER(rest_system_ns), INDEX(rest_first_rank))
#undef T
#define T ompp_rank_t
static const ompp_packed_field_t rank[] = {
    NUMBER(rank),         NUMBER(pid),         NUMBER(nthreads),   NUMBER(end),
    NUMBER(host),         NUMBER(clock),       NUMBER(processors), NUMBER(numa_nodes),
    NUMBER(cores),        NUMBER(bound),       NUMBER(job),        NUMBER(launch),
    INDEX(launcher_rank), NUMBER(start_ticks), NUMBER(pid_space),  NUMBER(begin_epoch_ns),
    NUMBER(duration_ns),  NUMBER(user_ns),     NUMBER(system_ns),
#define OMPP_COST(id, name, meaning) NUMBER(cost_ps[OMPP_COST_##id]), NUMBER(inside_ps[OMPP_COST_##id]),
#include "model/ompp_cost.def"
#undef OMPP_COST
};
const ompp_packed_t ompp_packed_rank = {rank, sizeof rank / sizeof rank[0], sizeof(T)};
#undef T
#define T ompp_location_t
RECORD(location, INDEX(rank), INDEX(tid), NUMBER(kind), NUMBER(begin_ns), NUMBER(end_ns))
#undef T
#define T ompp_module_t
RECORD(module, NUMBER(path), NUMBER(id), NUMBER(base))
#undef T
#define T ompp_region_t
RECORD(region, NUMBER(construct), NUMBER(flags), NUMBER(file), NUMBER(name), NUMBER(function), NUMBER(begin),
       NUMBER(end), INDEX(module), NUMBER(addr), NUMBER(addr_end), NUMBER(key), INDEX(number))
#undef T
#define T ompp_metric_t
RECORD(metric, NUMBER(name), NUMBER(source), NUMBER(meaning), NUMBER(set), NUMBER(index), NUMBER(unit), NUMBER(quality),
       NUMBER(reduce_threads), NUMBER(reduce_ranks), NUMBER(use))
#undef T
#define T ompp_object_t
RECORD(object, NUMBER(name), NUMBER(origin), NUMBER(address), NUMBER(size), NUMBER(start_offset), NUMBER(end_offset),
       NUMBER(nranges), NUMBER(rank))
#undef T
#define T ompp_coverage_t
RECORD(coverage, NUMBER(kind), NUMBER(subject), NUMBER(reason), NUMBER(count), NUMBER(nranks))
#undef T
#define T ompp_setting_t
RECORD(setting, NUMBER(name), NUMBER(value))
#undef T
#define T ompp_message_t
RECORD(message, INDEX(from), INDEX(to), NUMBER(messages), NUMBER(bytes))
#undef T
#define T ompp_whatif_t
RECORD(whatif, NUMBER(why), NUMBER(time_ns), NUMBER(paid_ns), NUMBER(events), NUMBER(cost_ns), NUMBER(lost),
       NUMBER(lost_ns), NUMBER(worked_ns), NUMBER(outside_ns), NUMBER(suspended_ns), NUMBER(replayed), NUMBER(kept),
       NUMBER(passed_ns))
#undef T
#define T ompp_whatif_clock_t
RECORD(whatif_clock, NUMBER(time_ns), NUMBER(saved_ns), NUMBER(paid_ns), NUMBER(work_ns), NUMBER(observations),
       NUMBER(nblocks))
#undef T
#define T ompp_whatif_block_t
RECORD(whatif_block, NUMBER(number), NUMBER(visits), NUMBER(time_ns), NUMBER(paid_ns), FIELD(saved_ns, SIGNED),
       NUMBER(work_ns))
#undef T
#define T ompp_whatif_region_t
RECORD(whatif_region, INDEX(region), NUMBER(flags), NUMBER(work_ns), NUMBER(followed_ns), NUMBER(total_ns),
       NUMBER(visits), INDEX(point))
#undef T
#define T ompp_whatif_point_t
RECORD(whatif_point, NUMBER(name), NUMBER(kind), NUMBER(automatic), INDEX(region), NUMBER(visits), NUMBER(begins),
       NUMBER(in_flight_ns))
#undef T
#define T ompp_spread_t
RECORD(spread, NUMBER(sum), NUMBER(min), NUMBER(max), NUMBER(min_rank), NUMBER(min_tid), NUMBER(max_rank),
       NUMBER(max_tid), FIELD(mean, DOUBLE), FIELD(m2, DOUBLE))
#undef T
#define T ompp_node_t
RECORD(node, INDEX(region), INDEX(parent), NUMBER(first_ns), INDEX(first_rank))
#undef T
#define T ompp_block_t
RECORD(block, NUMBER(location), NUMBER(set), NUMBER(object), NUMBER(nvalues))
#undef T
