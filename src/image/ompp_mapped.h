/**
 * \file
 * The file that lies at an address of this process.
 */
#ifndef OMPP_MAPPED_H
#define OMPP_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * \brief The file as the system names it: from the root, whatever the program has called it, and since moved.
 * \param[out] path  shape [n]; unchanged when false is returned.
 * \return false: the address is no file's, the system does not tell, or there is no room.
 */
bool ompp_mapped_file(uintptr_t address, char *path, size_t n);

#endif
