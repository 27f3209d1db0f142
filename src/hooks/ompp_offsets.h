/**
 * \file
 * Which bytes of a structure are accessed, and which of them miss, where accesses are told of one by one: the report
 * makes members of it (analysis/ompp_members.c). Of each structure a part of the offsets is followed, chosen by their
 * hash, so that memory is bounded; of small ones all. Private to src/hooks.
 */
#ifndef OMPP_OFFSETS_H
#define OMPP_OFFSETS_H

#include "hooks/ompp_feed_priv.h"

/** \brief Memory is there from now on. */
void ompp_offsets_start(void);

/** \brief A structure begins at an address, also behind it. Between ompp_data_try() and ompp_data_done(). */
void ompp_offsets_begin(uint32_t object, uintptr_t begin);

/**
 * \brief Accesses that were told of. Left out while another thread tells of some.
 * \param[in] levels  how many levels of the caches each has missed; shape [n].
 * \param[in] block   of structures whose begin was not told.
 */
void ompp_offsets_add(const ompp_fed_t *entry, const uint8_t *levels, uint32_t n, ompp_feed_block_t *block);

/**
 * \brief What is known of a structure, as model/ompp_raw.h says it.
 * \param[in] front  bytes in front of its first element. \return bytes written, without the last zero.
 */
size_t ompp_offsets_tell(uint32_t object, uint64_t front, char *text, size_t size);

/** \brief At the end: of the structures whose begin was told, what is known goes to their records. */
void ompp_offsets_finish(void);

#endif
