/**
 * \file
 * Colors on a terminal. Called by the commands.
 */
#ifndef OMPP_TOOLS_COLOR_H
#define OMPP_TOOLS_COLOR_H

#include <stdbool.h>
#include <stdio.h>

typedef enum { OMPP_COLOR_AUTO, OMPP_COLOR_ALWAYS, OMPP_COLOR_NEVER, OMPP_COLOR_NUM } ompp_color_t;

/** Words of --color=. */
extern const char *const ompp_color_words[OMPP_COLOR_NUM];

/** \return whether a word is --color= with one of these; into *color. */
bool ompp_color_read(const char *word, ompp_color_t *color);

/** \return whether what goes to fd has colors; auto: on a terminal that is not dumb, where NO_COLOR is not set. */
bool ompp_color_is_on(ompp_color_t color, int fd);

/** \brief Prints lines of a report with their colors. */
void ompp_color_put(char *text, FILE *out);

#endif
