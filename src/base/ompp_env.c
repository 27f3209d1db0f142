#define _GNU_SOURCE
#include "base/ompp_env.h"

#include "base/ompp_float.h"
#include "base/ompp_log.h"
#include "base/ompp_nearest.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

ompp_env_t ompp_env;

const ompp_env_row_t ompp_env_rows[] = {
#define OMPP_ENV(field, name, type, def, unit, help) \
    {name, OMPP_ENV_##type, def, unit, help, offsetof(ompp_env_t, field)},
#include "base/ompp_env.def"
#undef OMPP_ENV
};
const size_t ompp_env_nrows = sizeof ompp_env_rows / sizeof ompp_env_rows[0];

/*
 * What was set, kept from the start: reports are also made while the program runs, on a thread of ours, and reading the
 * environment then could meet a setenv() of the program.
 */
static char *texts[sizeof ompp_env_rows / sizeof ompp_env_rows[0]];
static bool misread[sizeof ompp_env_rows / sizeof ompp_env_rows[0]];
static _Atomic int reader; /* the thread that reads them; ALL_READ; 0 = none yet */

/* As secure_getenv() has it, and also where another tool than the system has changed the ids. */
bool ompp_env_is_trusted(void)
{
    static _Atomic int known; /* 0 = not looked at yet, 1 = no, 2 = yes */

    if (!known) known = getauxval(AT_SECURE) || getuid() != geteuid() || getgid() != getegid() ? 1 : 2;
    return known == 2;
}

static const char *value_of(const char *name) { return ompp_env_is_trusted() ? getenv(name) : NULL; }

/* "NAME=value" of all variables; NULL = none counts. */
static char **entries(void) { return ompp_env_is_trusted() ? environ : NULL; }

static const char *const type_accepts[] = {
    [OMPP_ENV_STRING] = "text",
    [OMPP_ENV_FLAG] = "0 or 1",
    [OMPP_ENV_INT] = "a whole number, 0 or more",
    [OMPP_ENV_BYTES] = "a number of bytes, with k, M or G",
    [OMPP_ENV_SECONDS] = "a number of seconds, 0 or more",
    [OMPP_ENV_WORDS] = "one or more, with commas, of",
    [OMPP_ENV_WORD] = "one of",
    [OMPP_ENV_FOREIGN] = "text",
    [OMPP_ENV_LIST] = "text",
    [OMPP_ENV_LATER] = "text",
};

/* percent: as people write it, "50%". */
static bool parse_int(const char *text, bool percent, int64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoll(text, &end, 10);
    if (percent && end != text && *end == '%') end++;
    return end != text && *end == '\0' && errno == 0 && *value >= 0;
}

bool ompp_env_parse_bytes(const char *text, uint64_t *value)
{
    char *end;
    unsigned shift = 0;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (end == text || errno != 0 || *text == '-') return false;
    if (*end == 'k' || *end == 'K') shift = 10;
    if (*end == 'm' || *end == 'M') shift = 20;
    if (*end == 'g' || *end == 'G') shift = 30;
    if (shift) end++;
    if (*end == 'B') end++;
    if (*end != '\0' || *value > UINT64_MAX >> shift) return false;
    *value <<= shift;
    return true;
}

static bool parse_seconds(const char *text, double *value)
{
    char *end;

    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0 && *value >= 0 && *value <= 1e9;
}

/* Is [word, word + n) one of the alternatives of a unit such as "text|csv"? Upper and lower case are the same. */
static bool is_alternative(const char *alternatives, const char *word, size_t n)
{
    while (*alternatives) {
        size_t length = strcspn(alternatives, "|");
        if (length == n && strncasecmp(alternatives, word, n) == 0) return true;
        alternatives += length + (alternatives[length] != '\0');
    }
    return false;
}

/* The program may have a strdup() of its own, which calls us. */
static char *copy_of(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);

    return copy ? memcpy(copy, text, bytes) : NULL;
}

static bool parse_words(const char *text, const char *alternatives, char **value)
{
    for (const char *word = text;; word++) {
        size_t n = strcspn(word, ",");
        if (!is_alternative(alternatives, word, n)) return false;
        word += n;
        if (!*word) break;
    }
    *value = copy_of(text);
    for (char *c = *value; c && *c; c++) *c = (char)tolower((unsigned char)*c);
    return *value != NULL;
}

__attribute__((visibility("default"))) bool ompp_env_has_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (; *words; words += words[0] == ',') {
        size_t length = strcspn(words, ",");
        if (length == n && strncmp(words, word, n) == 0) return true;
        words += length;
    }
    return false;
}

static bool is_percent(const ompp_env_row_t *row) { return strncmp(row->unit, "percent", 7) == 0; }

/* Turns text into a value of the row's type; false when it is none. field: of this type. */
static bool read_value(const ompp_env_row_t *row, const char *text, void *field)
{
    switch (row->type) {
    case OMPP_ENV_FLAG: *(bool *)field = strcmp(text, "0") != 0; return true;
    case OMPP_ENV_INT: return parse_int(text, is_percent(row), field);
    case OMPP_ENV_BYTES: return ompp_env_parse_bytes(text, field);
    case OMPP_ENV_SECONDS: return parse_seconds(text, field);
    case OMPP_ENV_WORD: return !strchr(text, ',') && parse_words(text, row->unit, field);
    case OMPP_ENV_WORDS: return parse_words(text, row->unit, field);
    default: *(char **)field = copy_of(text); return *(char **)field != NULL;
    }
}

static bool store(const ompp_env_row_t *row, const char *text)
{
    return read_value(row, text, (char *)&ompp_env + row->offset);
}

/* What the row takes: "one, of auto|tsc|gettime". */
/* "set OMPP_CLOCK to one of auto|tsc|gettime: 'sundial' is not understood". shown: what the user calls the variable. */
static void say_wrong(const ompp_env_row_t *row, const char *shown, const char *value, const char *what, char *text,
                      size_t size)
{
    const bool words = row->type == OMPP_ENV_WORDS || row->type == OMPP_ENV_WORD, brackets = *row->unit && !words;

    snprintf(text, size, "set %s to %s%s%s%s: '%.80s' is %s", shown, type_accepts[row->type],
             brackets ? " ("
             : words  ? " "
                      : "",
             row->unit, brackets ? ")" : "", value, what);
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

/* The range that ends a unit, "0-9" of "digits 0-9"; NULL when there is none. */
static const char *range_of(const ompp_env_row_t *row)
{
    const char *blank = strrchr(row->unit, ' '), *last = blank ? blank + 1 : row->unit;
    bool counts = row->type == OMPP_ENV_INT || row->type == OMPP_ENV_BYTES || row->type == OMPP_ENV_SECONDS;

    return counts && isdigit((unsigned char)*last) && strchr(last, '-') ? last : NULL;
}

/* Value of a row, or of one end of its range, on one scale. */
static double number_of(const ompp_env_row_t *row, const char *text)
{
    int64_t whole = 0;
    uint64_t bytes = 0;
    double seconds = 0;

    if (row->type == OMPP_ENV_INT && parse_int(text, is_percent(row), &whole)) return (double)whole;
    if (row->type == OMPP_ENV_BYTES && ompp_env_parse_bytes(text, &bytes)) return (double)bytes;
    return parse_seconds(text, &seconds) ? seconds : 0;
}

/* The end of the range that the value lies beyond, or NULL when all is well. buffer: [32]. */
static const char *beyond(const ompp_env_row_t *row, const char *text, char *buffer)
{
    const char *range = range_of(row), *dash = range ? strchr(range, '-') : NULL;

    if (!range || strcmp(text, row->def) == 0) return NULL;
    snprintf(buffer, 32, "%.*s", (int)(dash - range), range);
    if (number_of(row, text) < number_of(row, buffer))
        return number_of(row, text) == number_of(row, row->def) ? NULL : buffer;
    snprintf(buffer, 32, "%s", dash + 1);
    return *buffer && number_of(row, text) > number_of(row, buffer) ? buffer : NULL;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static const ompp_env_row_t *find_row(const char *name, size_t length)
{
    for (size_t i = 0; i < ompp_env_nrows; i++)
        if (ompp_env_rows[i].type != OMPP_ENV_LIST && strlen(ompp_env_rows[i].name) == length &&
            strncmp(ompp_env_rows[i].name, name, length) == 0)
            return &ompp_env_rows[i];
    return NULL;
}

/* Number of a member of the family, "OMPP_CTR12" of OMPP_CTR; 0 when it is none. */
static unsigned number_in(const ompp_env_row_t *row, const char *name, size_t length)
{
    size_t stem = strlen(row->name), digits = length > stem ? length - stem : 0;

    if (row->type != OMPP_ENV_LIST || digits == 0 || digits > OMPP_ENV_DIGITS || strncmp(name, row->name, stem) != 0)
        return 0;
    return strspn(name + stem, "0123456789") >= digits ? (unsigned)atoi(name + stem) : 0;
}

static bool is_numbered(const char *name, size_t length)
{
    for (size_t i = 0; i < ompp_env_nrows; i++)
        if (number_in(&ompp_env_rows[i], name, length)) return true;
    return false;
}

/* Room for one more. */
static bool grow(ompp_env_list_t *list)
{
    unsigned *number = realloc(list->number, (list->n + 1) * sizeof *number);
    char **text = realloc(list->text, (list->n + 1) * sizeof *text);

    if (number) list->number = number;
    if (text) list->text = text;
    return number && text;
}

static void insert(ompp_env_list_t *list, unsigned number, const char *value)
{
    unsigned k = list->n;
    char *text = grow(list) ? copy_of(value) : NULL;

    if (!text) return;
    for (; k > 0 && list->number[k - 1] > number; k--) {
        list->number[k] = list->number[k - 1];
        list->text[k] = list->text[k - 1];
    }
    list->number[k] = number;
    list->text[k] = text;
    list->n++;
}

static void read_list(const ompp_env_row_t *row)
{
    ompp_env_list_t *list = (ompp_env_list_t *)((char *)&ompp_env + row->offset);

    for (char **e = entries(); e && *e; e++) {
        const char *equals = strchr(*e, '=');
        unsigned number = equals ? number_in(row, *e, equals - *e) : 0;
        if (number && equals[1]) insert(list, number, equals + 1);
    }
}

/* "OMPP_CTR12345": a member whose number has too many digits. \return the family, or NULL. */
static const ompp_env_row_t *beyond_family(const char *name, size_t length)
{
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        size_t stem = strlen(ompp_env_rows[i].name);
        if (ompp_env_rows[i].type == OMPP_ENV_LIST && length > stem &&
            strncmp(name, ompp_env_rows[i].name, stem) == 0 && stem + strspn(name + stem, "0123456789") >= length)
            return &ompp_env_rows[i];
    }
    return NULL;
}

/* Of a family, its first member. */
static void say_unknown(const char *name, size_t length)
{
    char wanted[64];
    ompp_nearest_t nearest;
    const ompp_env_row_t *row;

    snprintf(wanted, sizeof wanted, "%.*s", (int)length, name);
    ompp_nearest_begin(&nearest, wanted + 5);
    for (size_t i = 0; i < ompp_env_nrows; i++)
        if (strncmp(ompp_env_rows[i].name, "OMPP_", 5) == 0)
            ompp_nearest_offer(&nearest, ompp_env_rows[i].name + 5, &ompp_env_rows[i]);
    row = nearest.n ? nearest.best[0].item : NULL;
    if (row)
        ompp_warn_common("did you mean %s%s? unknown variable %s; 'ompp-config --list-env' lists all", row->name,
                         row->type == OMPP_ENV_LIST ? "1" : "", wanted);
    else ompp_warn_common("look into 'ompp-config --list-env': unknown variable %s", wanted);
}

static void warn_unknown(void)
{
    for (char **e = entries(); e && *e; e++) {
        const char *equals = strchr(*e, '=');
        if (!equals || strncmp(*e, "OMPP_", 5) != 0) continue;
        if (strncmp(*e, "OMPP_TEST_", 10) == 0) continue; /* of our own tests, and seen by the programs they run */
        size_t length = equals - *e;
        const ompp_env_row_t *family = beyond_family(*e, length);
        if (is_numbered(*e, length) || find_row(*e, length)) continue;
        if (family)
            ompp_warn_common("use numbers from %s1 to %s%d: %.*s is not used", family->name, family->name,
                             OMPP_ENV_NUMBER_MAX, (int)length, *e);
        else say_unknown(*e, length);
    }
}

/* What a default means that is a sign for something else, as its help has it: " (0 = all in turn)". */
static void say_meaning(const ompp_env_row_t *row, char *text, size_t size)
{
    char begin[32];
    const char *found;

    text[0] = '\0';
    if (row->type != OMPP_ENV_INT) return;
    snprintf(begin, sizeof begin, " %s = ", row->def);
    found = strstr(row->help, begin);
    if (found) snprintf(text, size, " (%.*s)", (int)strcspn(found + 1, ";"), found + 1);
}

static void read_row(const ompp_env_row_t *row, const char *text)
{
    char buffer[32];
    const char *nearest;

    if (!text || !*text) {
        /* ompP: a flag that is set to nothing is on. */
        store(row, text && row->type == OMPP_ENV_FLAG ? "1" : row->def);
        return;
    }
    if (row->type == OMPP_ENV_LATER) ompp_warn_common("%s has no effect in this version: %s", row->name, row->help);
    if (!store(row, text)) {
        char wrong[300], meaning[80];
        say_wrong(row, row->name, text, "not understood", wrong, sizeof wrong);
        say_meaning(row, meaning, sizeof meaning);
        ompp_warn_common("%s; using %s%s", wrong, row->def, meaning);
        misread[row - ompp_env_rows] = true;
        store(row, row->def);
    } else if ((nearest = beyond(row, text, buffer))) {
        char wrong[300];
        say_wrong(row, row->name, text, "out of range", wrong, sizeof wrong);
        ompp_warn_common("%s; using %s", wrong, nearest);
        store(row, nearest);
    }
}

/* A value of a row's type, read and thrown away. A flag is 0 or 1 here: "no" would switch it on. */
static bool is_of_type(const ompp_env_row_t *row, const char *text)
{
    union {
        uint64_t number;
        char *text;
    } value = {0};
    const bool owned = row->type == OMPP_ENV_STRING || row->type == OMPP_ENV_WORD || row->type == OMPP_ENV_WORDS;

    if (row->type == OMPP_ENV_FLAG) return strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
    const bool ok = read_value(row, text, &value);
    if (owned && ok) free(value.text);
    return ok;
}

bool ompp_env_accepts(const char *name, const char *text, const char *shown, char *wrong, size_t size)
{
    const size_t length = strlen(name);
    const ompp_env_row_t *row = find_row(name, length), *family = beyond_family(name, length);
    char end[32];

    if (!row && family && !is_numbered(name, length)) {
        snprintf(wrong, size, "use numbers from 1 to %d: %s is not used", OMPP_ENV_NUMBER_MAX, shown);
        return false;
    }
    if (!row || !*text) return true;
    const bool understood = is_of_type(row, text);
    if (understood && !beyond(row, text, end)) return true;
    say_wrong(row, shown, text, understood ? "out of range" : "not understood", wrong, size);
    return false;
}

enum { ALL_READ = -1, MOST_YIELDS = 100000 };

/* \return true: this thread reads them. Others wait for it, but not for ever: in a forked child it may be gone. */
static bool begin_to_read(void)
{
    int reads = atomic_load_explicit(&reader, memory_order_acquire);

    if (reads == ALL_READ) return false;
    if (reads == 0 && atomic_compare_exchange_strong(&reader, &reads, (int)gettid())) return true;
    for (unsigned i = 0; reads != (int)gettid() && i < MOST_YIELDS; i++) {
        if (atomic_load_explicit(&reader, memory_order_acquire) == ALL_READ) break;
        sched_yield();
    }
    return false;
}

void ompp_env_read(void)
{
    const char *quiet = value_of("OMPP_QUIET");
    int saved_errno = errno;
    ompp_float_t program;

    if (!begin_to_read()) return;
    ompp_float_begin(&program);
    if (quiet && strcmp(quiet, "0") != 0) ompp_log_set_level(OMPP_LOG_QUIET);
    for (size_t i = 0; i < ompp_env_nrows; i++) {
        if (ompp_env_rows[i].type == OMPP_ENV_LIST) {
            read_list(&ompp_env_rows[i]);
            continue;
        }
        const char *text = value_of(ompp_env_rows[i].name);
        if (text && *text) texts[i] = copy_of(text);
        read_row(&ompp_env_rows[i], text);
    }
    warn_unknown();
    if (ompp_env.verbose > 0 && !ompp_env.quiet)
        ompp_log_set_level(ompp_env.verbose > 1 ? OMPP_LOG_DEBUG : OMPP_LOG_INFO);
    ompp_float_end(&program);
    atomic_store_explicit(&reader, ALL_READ, memory_order_release);
    errno = saved_errno;
}

/* The launcher has replaced itself by the program, and that perhaps by another: a shell by the last command of its
 * script. */
static bool is_launched_process(void)
{
    const char *process = value_of(OMPP_ENV_LAUNCHED);

    return process && strtol(process, NULL, 10) == (long)getpid();
}

/*
 * The environment is changed in place, and not by setenv(): shells have functions of their own under these names, and
 * the array that main() is given is this one.
 */
static char **find_entry(const char *name)
{
    size_t length = strlen(name);

    for (char **e = entries(); e && *e; e++)
        if (strncmp(*e, name, length) == 0 && (*e)[length] == '=') return e;
    return NULL;
}

static void remove_entry(const char *name)
{
    for (char **e = find_entry(name); e && *e; e++) e[0] = e[1];
}

static struct {
    char *command, **text;
    size_t n;
} again;

static void keep_again(const char *name)
{
    char **entry = find_entry(name), **bigger = entry ? realloc(again.text, (again.n + 3) * sizeof *bigger) : NULL;

    if (!bigger) return;
    again.text = bigger;
    again.text[again.n++] = copy_of(*entry);
}

/* The libraries are chosen anew for another program. */
static void keep_names(const char *names)
{
    size_t room = sizeof OMPP_ENV_RESTORE + strlen(names) + 2;
    char *text = malloc(room);

    if (!text || !again.text) {
        free(text);
        return;
    }
    snprintf(text, room, "%s=", OMPP_ENV_RESTORE);
    for (const char *name = names; *name; name += strcspn(name, ","), name += *name == ',') {
        int length = (int)strcspn(name, ",");
        if (length == 10 && strncmp(name, "LD_PRELOAD", 10) == 0) continue;
        size_t used = strlen(text);
        snprintf(text + used, room - used, "%s%.*s", text[used - 1] == '=' ? "" : ",", length, name);
    }
    again.text[again.n++] = text;
    again.text[again.n] = NULL;
}

static void restore(const char *name)
{
    char note[256], **was, **entry;

    snprintf(note, sizeof note, OMPP_ENV_WAS "%s", name);
    if (strcmp(name, "LD_PRELOAD") != 0) {
        keep_again(name);
        keep_again(note);
    }
    was = find_entry(note);
    entry = find_entry(name);
    if (was && entry) *entry = *was + strlen(OMPP_ENV_WAS);
    else if (!was) remove_entry(name);
    remove_entry(note);
}

bool ompp_env_restore(void)
{
    const char *noted = value_of(OMPP_ENV_RESTORE), *command = value_of(OMPP_ENV_COMMAND);
    char *names = noted ? copy_of(noted) : NULL, *rest = names, *name;

    if (!names) return is_launched_process();
    ompp_env_read();
    if (command) keep_again(OMPP_ENV_COMMAND);
    if (command) again.command = copy_of(command);
    while ((name = strsep(&rest, ","))) restore(name);
    keep_names(value_of(OMPP_ENV_RESTORE));
    remove_entry(OMPP_ENV_RESTORE);
    remove_entry(OMPP_ENV_COMMAND);
    free(names);
    return true;
}

void ompp_env_reexec(char *text, const struct stat *program)
{
    snprintf(text, OMPP_ENV_REEXEC_SIZE, "%ld %llu %llu", (long)getpid(), (unsigned long long)program->st_dev,
             (unsigned long long)program->st_ino);
}

char *const *ompp_env_again(const char **command)
{
    *command = again.command;
    return again.command ? again.text : NULL;
}

const char *ompp_env_text(const ompp_env_row_t *row)
{
    const char *text = atomic_load(&reader) ? texts[row - ompp_env_rows] : value_of(row->name);

    return text ? text : "";
}

bool ompp_env_is_misread(const ompp_env_row_t *row) { return misread[row - ompp_env_rows]; }

static bool has_member(const ompp_env_row_t *row)
{
    if (atomic_load(&reader)) return ((const ompp_env_list_t *)((const char *)&ompp_env + row->offset))->n > 0;
    for (char **e = entries(); e && *e; e++) {
        const char *equals = strchr(*e, '=');
        if (equals && equals[1] && number_in(row, *e, equals - *e)) return true;
    }
    return false;
}

bool ompp_env_is_set(const char *name)
{
    for (size_t i = 0; i < ompp_env_nrows; i++)
        if (strcmp(ompp_env_rows[i].name, name) == 0)
            return ompp_env_rows[i].type == OMPP_ENV_LIST ? has_member(&ompp_env_rows[i])
                                                          : *ompp_env_text(&ompp_env_rows[i]);
    return false;
}

const char *ompp_env_foreign(const char *name) { return value_of(name); }
