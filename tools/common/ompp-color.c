/*
 * Colors of what the commands print on a terminal: by the form of a line, so that no writer knows of them.
 */
#include "tools/common/ompp-color.h"

#include "base/ompp_env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const ompp_color_words[OMPP_COLOR_NUM] = {"auto", "always", "never"};

bool ompp_color_read(const char *word, ompp_color_t *color)
{
    static const char option[] = "--color=";

    if (strncmp(word, option, sizeof option - 1) != 0) return false;
    for (unsigned i = 0; i < OMPP_COLOR_NUM; i++)
        if (strcmp(word + sizeof option - 1, ompp_color_words[i]) == 0) {
            *color = (ompp_color_t)i;
            return true;
        }
    return false;
}

bool ompp_color_is_on(ompp_color_t color, int fd)
{
    const char *terminal = ompp_env_foreign("TERM"), *none = ompp_env_foreign("NO_COLOR");

    if (color != OMPP_COLOR_AUTO) return color == OMPP_COLOR_ALWAYS;
    return isatty(fd) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Lines that begin so, "-" the first one that fits. */
static const struct {
    const char *begin, *color;
} rows[] = {
    {"----", "\033[1m"}, /* titles */
    {"Caution", "\033[1;31m"},
    {"Property ", "\033[1;33m"},
    {"Largest losses", "\033[1m"},
    {"Parallel efficiency", "\033[1m"},
    {" SUM", "\033[1m"},
    {"SUM", "\033[1m"},
    {"R0", "\033[36m"},
    {"and ", "\033[2m"}, /* what is left out */
    {"folded: ", "\033[2m"},
};

static const char *color_of(const char *line)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(line, rows[i].begin, strlen(rows[i].begin)) == 0) return rows[i].color;
    return NULL;
}

void ompp_color_put(char *text, FILE *out)
{
    for (char *line = text, *end; *line; line = end) {
        const char *color = color_of(line);
        end = strchr(line, '\n');
        if (!end) end = line + strlen(line);
        if (color) fprintf(out, "%s%.*s\033[0m", color, (int)(end - line), line);
        else fwrite(line, 1, (size_t)(end - line), out);
        if (*end) putc(*end++, out);
    }
}
