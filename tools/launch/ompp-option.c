#include "tools/launch/ompp-option.h"

#include "base/ompp_nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OMPP_TIME_DIGITS -> time-digits; none for variables of other software and for those without effect. */
const char *ompp_option_name(const ompp_env_row_t *row)
{
    static char name[128];
    size_t i;

    if (row->type == OMPP_ENV_FOREIGN || row->type == OMPP_ENV_LATER) return NULL;
    for (i = 0; row->name[i + 5] && i + 1 < sizeof name; i++)
        name[i] = row->name[i + 5] == '_' ? '-' : (char)tolower((unsigned char)row->name[i + 5]);
    name[i] = '\0';
    return name;
}

/* The value behind '=', else the next word; a flag needs none. \return number of words. */
static int take_value(const char *behind, bool flag, char *const *words, const char **value)
{
    if (*behind == '=') {
        *value = behind + 1;
        return 1;
    }
    if (flag) {
        *value = "1";
        return 1;
    }
    *value = words[1];
    return words[1] && strcmp(words[1], "--") != 0 ? 2 : OMPP_OPTION_NO_VALUE;
}

/* --name=value, --name value, or --name for a flag; --ctr1=value of a numbered family. */
static int read_variable(char *const *words, char **variable, const char **value)
{
    const char *option = words[0] + 2;
    size_t length = strcspn(option, "=");

    for (size_t i = 0; i < ompp_env_nrows; i++) {
        const ompp_env_row_t *row = &ompp_env_rows[i];
        const char *name = ompp_option_name(row);
        size_t stem = name ? strlen(name) : 0;
        if (!name || stem > length || strncmp(name, option, stem) != 0) continue;
        size_t digits = row->type == OMPP_ENV_LIST ? strspn(option + stem, "0123456789") : 0;
        if (stem + digits != length || (row->type == OMPP_ENV_LIST && digits == 0)) continue;
        if (asprintf(variable, "%s%.*s", row->name, (int)digits, option + stem) < 0) abort();
        return take_value(option + length, row->type == OMPP_ENV_FLAG, words, value);
    }
    return OMPP_OPTION_UNKNOWN;
}

int ompp_option_read(char *const *words, char **variable, const char **value)
{
    int used = OMPP_OPTION_UNKNOWN;

    *variable = NULL;
    if (strcmp(words[0], "-n") == 0) return 1;
    if (strcmp(words[0], "--app") == 0 || strncmp(words[0], "--app=", 6) == 0) {
        *variable = strdup("OMPP_APPNAME");
        used = take_value(words[0] + 5, false, words, value);
    } else if (strncmp(words[0], "--", 2) == 0) {
        used = read_variable(words, variable, value);
    }
    if (used > 0) return used;
    free(*variable);
    *variable = NULL;
    return used;
}

const char *ompp_option_wrong(const char *variable, const char *value)
{
    static char text[400];
    char why[240], option[64];
    size_t n = 0;

    if (!variable || ompp_env_accepts(variable, value, why, sizeof why)) return NULL;
    for (const char *c = variable + strlen("OMPP_"); *c && n + 1 < sizeof option; c++)
        option[n++] = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    option[n] = '\0';
    snprintf(text, sizeof text, "--%s=%.80s is %s", option, value, why);
    return text;
}

/* Of a family, the number of the unknown one, or 1. */
const char *ompp_option_nearest(const char *option)
{
    static const char *const others[] = {"app", "help", "version"};
    static char best[160];
    char wanted[100];
    ompp_nearest_t nearest;

    snprintf(wanted, sizeof wanted, "%s", option + strspn(option, "-"));
    wanted[strcspn(wanted, "=")] = '\0';
    ompp_nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) ompp_nearest_offer(&nearest, others[i], NULL);
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        const char *name = ompp_option_name(&ompp_env_rows[i]);
        if (name) ompp_nearest_offer(&nearest, name, &ompp_env_rows[i]);
    }
    if (!nearest.n) return NULL;
    const ompp_env_row_t *row = nearest.best[0].item;
    size_t digit = strcspn(wanted, "0123456789");
    const char *number = !row || row->type != OMPP_ENV_LIST ? "" : wanted[digit] ? wanted + digit : "1";
    if (row) snprintf(best, sizeof best, "--%s%s", ompp_option_name(row), number);
    for (size_t i = 0; i < sizeof others / sizeof others[0] && !row; i++)
        if (ompp_nearest_distance(wanted, others[i]) == nearest.best[0].distance)
            snprintf(best, sizeof best, "--%s", others[i]);
    return best;
}
