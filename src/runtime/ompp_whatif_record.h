/**
 * \file
 * Records of the causal profile in the arena (model/ompp_layout.h): made here, under the process's lock; filled by
 * src/causal. Pointers are good until the end of the process.
 */
#ifndef OMPP_WHATIF_RECORD_H
#define OMPP_WHATIF_RECORD_H

#include "model/ompp_layout.h"
#include "runtime/ompp_event.h"

/**
 * \brief The process's causal profile, made at the first call.
 * \return NULL when there is no room or measurement does not run.
 */
ompp_a_whatif_t *ompp_whatif_record(ompp_whatif_mode_t mode);

/** \brief Says why there is no result. The last one is kept. */
void ompp_whatif_say_why(const char *why);

/** \brief A further region that is followed, linked, all zero. \return NULL when off or full. Slow. */
ompp_a_whatif_region_t *ompp_whatif_region_new(ompp_region_ref_t region);

/** \brief The same of the units of a latency point. */
ompp_a_whatif_region_t *ompp_whatif_unit_new(ompp_region_ref_t region, ompp_a_whatif_point_t *point);

/**
 * \brief A further progress point, linked, zero counts.
 * \param[in] region  of an automatic one.
 * \return NULL when off or full. Slow.
 */
ompp_a_whatif_point_t *ompp_whatif_point_new(const char *name, uint32_t kind, bool automatic, ompp_region_ref_t region);

/**
 * \brief Where a region is, as far as the process knows. Texts are cut to fit.
 * \param[out] line  of its begin, 0 = not known.
 */
void ompp_whatif_region_place(ompp_region_ref_t region, char *file, size_t nfile, uint32_t *line, char *name,
                              size_t nname);

/**
 * \brief "module+0xoffset" of a region that is known by its address, as the XML report has it; "" for others. Cut to
 *        fit.
 */
void ompp_whatif_region_address(ompp_region_ref_t region, char *text, size_t size);

/** \return rank in MPI_COMM_WORLD; -1 before MPI_Init and without MPI. */
int ompp_whatif_rank(void);

/** \return size of MPI_COMM_WORLD; 1 before MPI_Init and without MPI. */
unsigned ompp_whatif_ranks(void);

/**
 * \brief Calls each for every call tree node of all threads, with the time spent at it until now in phases that are
 *        work, what is below it included. Nodes are read while their threads go on.
 */
void ompp_whatif_region_times(void (*each)(ompp_region_ref_t region, uint64_t ns, void *argument), void *argument);

/**
 * \brief Number that is equal on all ranks for equal regions, as far as the process knows it: by source place, or
 *        module and offset.
 */
uint64_t ompp_whatif_region_key(ompp_region_ref_t region);

#endif
