/** \file What writer and reader of the compact form share. For src/model only. */
#ifndef OMPP_PACK_PRIV_H
#define OMPP_PACK_PRIV_H

#include <stddef.h>
#include <stdint.h>

#define OMPP_PACK_MAGIC_BYTES 8
#define OMPP_PACK_CHECKSUM_BYTES 8

/** \brief Fingerprint of the names and order of constructs, phases, metrics and coverage kinds: numbers in a file mean
 *         what they mean here only when it is equal. */
uint64_t ompp_pack_fingerprint(void);

#endif
