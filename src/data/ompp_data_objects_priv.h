/**
 * \file
 * Data structures by their numbers, from 1, and by their names. Private to src/data.
 *
 * Callers take turns: they have the register's lock. Nothing here comes from malloc: the program may have its allocator
 * in its hands.
 */
#ifndef OMPP_DATA_OBJECTS_PRIV_H
#define OMPP_DATA_OBJECTS_PRIV_H

#include "data/ompp_data.h"
#include "model/ompp_layout.h"

/** \brief How many there are: the highest number. */
uint32_t ompp_data_objects_count(void);

/** \brief The structure of a number, from 1 to ompp_data_objects_count(). \return borrowed. */
ompp_a_object_t *ompp_data_objects_at(uint32_t object);

/** \brief Its name. \return borrowed. */
const char *ompp_data_objects_name(uint32_t object);

/** \brief A string of the arena. \return borrowed; "" for 0. */
const char *ompp_data_objects_text(ompp_off_t off);

/** \brief The structure of this name, or that once had it. \return 0: there is none. */
uint32_t ompp_data_objects_find(const char *name);

/** \brief Makes a structure. \return its number; 0: no room, which Coverage tells. */
uint32_t ompp_data_objects_make(const char *name, const char *origin, const void *address, size_t size);

/** \brief Gives a structure another name. It stays as it was when there is no room. */
void ompp_data_objects_rename(uint32_t object, const char *name);

#endif
