/**
 * \file
 * The compact form of a profile: what ranks send to rank 0, and what is left on disk when libompp-report.so cannot be
 * opened (`ompp-report convert` reads it). libc only.
 *
 * "OMPPPROF", version, fingerprint of the tables, profile, checksum. Numbers are unsigned LEB128 (7 bits per byte, low
 * first), so that it is the same on every machine; the few floating-point numbers are their IEEE 754 bits, low byte
 * first. Not a format to keep: another version of the library, or one with other constructs, refuses it; the XML is for
 * keeping.
 */
#ifndef OMPP_PACK_H
#define OMPP_PACK_H

#include "model/ompp_profile.h"

#define OMPP_PACK_MAGIC "OMPPPROF"
#define OMPP_PACK_VERSION 16

/**
 * \brief Writes a profile in compact form to memory.
 * \param[in]  profile  borrowed.
 * \param[out] data     owned by the caller, free(); NULL after an error. \param[out] bytes  its length.
 * \return 0 or -OMPP_E_NOMEM.
 */
int ompp_pack(const ompp_profile_t *profile, void **data, uint64_t *bytes);

/**
 * \brief Reads it back. Safe on any input: needs memory in proportion to its length, and what comes out has passed
 *        ompp_profile_check().
 * \param[out] profile  new, free with ompp_profile_free(); NULL after an error.
 * \return 0.
 * \return -OMPP_E_FORMAT   not a compact profile, cut off or damaged.
 * \return -OMPP_E_VERSION  written by another version.
 * \return -OMPP_E_NOMEM
 */
int ompp_unpack(const void *data, uint64_t bytes, ompp_profile_t **profile);

/**
 * \brief Writes the compact form to a file (base/ompp_new_file.h), which is whole or not there. Never raises SIGXFSZ.
 * \param[in] replace  a file of that name is replaced; else it stays, and errno is EEXIST.
 * \return 0, -OMPP_E_OPEN, -OMPP_E_IO (errno tells why) or -OMPP_E_NOMEM.
 */
int ompp_pack_write_file(const char *path, const ompp_profile_t *profile, bool replace);

/** \return as ompp_unpack(), and -OMPP_E_OPEN or -OMPP_E_IO (errno tells why). */
int ompp_pack_read_file(const char *path, ompp_profile_t **profile);

/** \brief The same of a file that is open, from its beginning. */
int ompp_pack_read_fd(int fd, ompp_profile_t **profile);

#endif
