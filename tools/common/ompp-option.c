#include "tools/common/ompp-option.h"

#include "base/ompp_nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OMPP_TIME_DIGITS -> time-digits, in a buffer that the next call uses again; none for variables of other software and
 * for those without effect. */
static const char *name_of(const ompp_env_row_t *row)
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
        const char *name = name_of(row);
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
    } else if (strcmp(words[0], "--sample") == 0 || strncmp(words[0], "--sample=", 9) == 0) {
        *variable = strdup("OMPP_SAMPLE_HZ");
        used = take_value(words[0] + 8, false, words, value);
        if (used > 0 && strcmp(*value, "off") == 0) *value = "0";
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
    char option[64] = "--";
    size_t n = strlen(option);

    if (!variable) return NULL;
    for (const char *c = variable + strlen("OMPP_"); *c && n + 1 < sizeof option; c++)
        option[n++] = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    option[n] = '\0';
    return ompp_env_accepts(variable, value, option, text, sizeof text) ? NULL : text;
}

/* Of a family, the number of the unknown one, or 1. */
const char *ompp_option_nearest(const char *option)
{
    static const char *const others[] = {"app", "help", "sample", "version"};
    static char best[160];
    char wanted[100];
    ompp_nearest_t nearest;

    snprintf(wanted, sizeof wanted, "%s", option + strspn(option, "-"));
    wanted[strcspn(wanted, "=")] = '\0';
    ompp_nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) ompp_nearest_offer(&nearest, others[i], NULL);
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        const char *name = name_of(&ompp_env_rows[i]);
        if (name) ompp_nearest_offer(&nearest, name, &ompp_env_rows[i]);
    }
    if (!nearest.n) return NULL;
    const ompp_env_row_t *row = nearest.best[0].item;
    size_t digit = strcspn(wanted, "0123456789");
    const char *number = !row || row->type != OMPP_ENV_LIST ? "" : wanted[digit] ? wanted + digit : "1";
    if (row) snprintf(best, sizeof best, "--%s%s", name_of(row), number);
    for (size_t i = 0; i < sizeof others / sizeof others[0] && !row; i++)
        if (ompp_nearest_distance(wanted, others[i]) == nearest.best[0].distance)
            snprintf(best, sizeof best, "--%s", others[i]);
    return best;
}

/* ---- Help -------------------------------------------------------------------------------------------------------- */

/* What ompp --help shows; an empty task is the one above. ompp --help=all adds all rows of ompp_env.def. */
static const struct {
    const char *task, *option, *help;
} often_used[] = {
    {"Where reports go, and in which form", "--outdir=DIR", "directory (default: where the program starts)"},
    {"", "--appname=NAME", "name of the program in reports and their file names"},
    {"", "--outformat=LIST", "text (default), csv, html, or several; XML is always there"},
    {"How detailed they are", "--time-digits=N", "digits after the point of times, 0-9 (default 2)"},
    {"What is measured", "--ctr1=COUNTER", "a counter of PAPI, as PAPI_TOT_CYC; a second: --ctr2="},
    {"", "--omp-runtime=gomp", "OpenMP that comes after the start, as Python loads it"},
    {"", "--children", "what the program starts, too"},
    {"Samples of call paths", "--sample=HZ", "so many per second of a thread (default 100), or off"},
    {"Data structures", "--data=NAMES", "accesses to these variables, as a,grid (docs/data.md)"},
    {"What if a region were faster", "--causal=virtual", "how much faster the program would be"},
    {"While it runs", "--dump-interval=S", "every S seconds a report of each process"},
};
enum { OFTEN_USED = sizeof often_used / sizeof often_used[0], OPTION_WIDTH = 19 };

static void print_all(void)
{
    printf("\nAll options of variables, with values in brackets\n");
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        const ompp_env_row_t *row = &ompp_env_rows[i];
        const char *name = name_of(row), *rest = row->type == OMPP_ENV_LIST ? "1=..." : "=...";
        char option[140];
        if (!name) continue;
        const bool is_switch = row->type == OMPP_ENV_FLAG && strcmp(row->def, "0") == 0;
        const bool words = row->type == OMPP_ENV_WORD || row->type == OMPP_ENV_WORDS;
        snprintf(option, sizeof option, "--%s%s", name, is_switch ? "" : rest);
        printf("  %-22s  %s%s%s%s\n", option, row->help, words ? " [" : "", words ? row->unit : "", words ? "]" : "");
    }
}

void ompp_option_help(bool all)
{
    printf("usage: ompp [options] -- program [arguments]\n"
           "       ompp doctor mpirun -n 4 program [arguments]\n"
           "Runs a dynamic program under measurement, as it is. ompp doctor says before that\n"
           "what would work, and with which command. Each option is a variable, too:\n"
           "--outdir=DIR is OMPP_OUTDIR=DIR.\n");
    for (size_t i = 0; i < OFTEN_USED; i++) {
        if (*often_used[i].task) printf("%s%s\n", i ? "" : "\n", often_used[i].task);
        printf("  %-*s %s\n", OPTION_WIDTH, often_used[i].option, often_used[i].help);
    }
    printf("The command itself\n"
           "  %-*s %s\n  %-*s %s\n  -v, --version, -h, --help\n",
           OPTION_WIDTH, "-n", "print the environment for a shell, run nothing", OPTION_WIDTH, "--help=all",
           "all options");
    if (all) print_all();
    printf("\nExamples\n"
           "  ompp --outdir=reports -- ./app\n"
           "  mpirun --bind-to none -n 2 ompp --outformat=csv,text -- ./app input\n"
           "  ompp --causal=virtual -- ./app\n");
}
