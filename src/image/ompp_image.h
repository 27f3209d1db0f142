/**
 * \file
 * A program or library as a file in memory, not loaded: nothing of it is run.
 */
#ifndef OMPP_IMAGE_H
#define OMPP_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const unsigned char *data; /* mapped */
    size_t size;               /* bytes */
} ompp_image_t;

/** \brief Maps a file. \return false with errno: it cannot be read, or is no regular file. Otherwise close it. */
bool ompp_image_open(const char *path, ompp_image_t *image);
void ompp_image_close(const ompp_image_t *image);

/** \return whether it is of this machine and word size, and its program headers lie in the file. */
bool ompp_image_runs_here(const ompp_image_t *image);

/** \brief The first program header of a type, of one that runs here; NULL = none. Borrowed from the image. */
const ElfW(Phdr) * ompp_image_header(const ompp_image_t *image, ElfW(Word) type);

#endif
