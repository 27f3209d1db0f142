/**
 * \file
 * What is mapped in this process, and the file that lies at an address. Nothing is allocated or locked: also in signal
 * handlers.
 */
#ifndef OMPP_MAPPED_H
#define OMPP_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** \param[in] path  "" = none, or one that is very long. \return true: that is all. */
typedef bool ompp_mapped_visit_t(void *data, uintptr_t begin, uintptr_t end, const char *path);

/** \brief All that is mapped, until visit() says so. \return false: the system does not tell all. */
bool ompp_mapped_each(ompp_mapped_visit_t *visit, void *data);

/**
 * \brief The file as the system names it: from the root, whatever the program has called it, and since moved.
 * \param[out] path  shape [n]; unchanged when false is returned.
 * \return false: the address is no file's, the system does not tell, or there is no room.
 */
bool ompp_mapped_file(uintptr_t address, char *path, size_t n);

#endif
