/**
 * \file
 * Which bytes of a structure are accessed, and which of them miss, where accesses are told of one by one: the report
 * makes members of it (analysis/ompp_members.c). Of each structure a part of the offsets is followed, chosen by their
 * hash, so that memory is bounded; of small ones all. Private to src/hooks.
 */
#ifndef OMPP_MEMBERS_H
#define OMPP_MEMBERS_H

#include "hooks/ompp_feed_priv.h"

/** \brief Memory is there from now on. */
void ompp_members_start(void);

/** \brief A structure begins at an address, also behind it. Between ompp_data_try() and ompp_data_done(). */
void ompp_members_begin(uint32_t object, uintptr_t begin);

/** \return where the block begins that an address is in, 0 = it is not known. */
typedef uintptr_t ompp_members_block_t(uint32_t object, uintptr_t address);

/**
 * \brief Accesses that were told of. Left out while another thread tells of some.
 * \param[in] levels  how many levels of the caches each has missed; shape [n].
 * \param[in] block   of structures whose begin was not told.
 */
void ompp_members_add(const ompp_fed_t *entry, const uint8_t *levels, uint32_t n, ompp_members_block_t *block);

/** \brief What is known of a structure, as model/ompp_raw.h says it. \return bytes written, without the last zero. */
size_t ompp_members_tell(uint32_t object, char *text, size_t size);

/** \brief At the end: of the structures whose begin was told, what is known goes to their records. */
void ompp_members_finish(void);

#endif
