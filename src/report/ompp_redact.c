/*
 * A report for others: without directories, names of hosts and values of the environment.
 */
#define _GNU_SOURCE
#include "report/ompp_report.h"

#include "base/ompp_path.h"
#include "base/ompp_vector.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ends_word[] = " \t'\"`:;,()<>[]{}=|";

/* A word of n characters that leads through directories: /a/b, ~/b, ./b, a/b.c; but not B/s. \return its last part. */
static const char *last_part(const char *word, size_t n)
{
    const char *last = word;

    for (size_t i = 0; i + 1 < n; i++)
        if (word[i] == '/') last = word + i + 1;
    if (last == word || strchr("/~.", *word)) return last;
    for (const char *p = last; p + 1 < word + n; p++)
        if (*p == '.' && isalpha((unsigned char)p[1])) return last;
    return word;
}

/*
 * Length of the word that text begins with. A path from the root on may have blanks in it: it goes on to the last '/'
 * in front of what else ends words, and in front of the next path.
 */
static size_t word_length(const char *text)
{
    size_t n = strcspn(text, ends_word), end = n;

    if (*text != '/') return n;
    while (text[end] == ' ' && text[end + 1] != '/') {
        const size_t more = 1 + strcspn(text + end + 1, ends_word);
        if (memchr(text + end, '/', more)) n = end + more;
        end += more;
    }
    return n;
}

static void hide_paths(ompp_profile_t *p, ompp_str_t *string)
{
    const char *text = ompp_profile_text(p, *string);
    char *shorter = malloc(strlen(text) + 1), *to = shorter;

    for (; shorter && *text;) {
        const size_t n = word_length(text);
        const char *part = last_part(text, n);
        memcpy(to, part, (size_t)(text + n - part));
        to += text + n - part;
        text += n;
        if (*text) *to++ = *text++;
    }
    if (!shorter) p->failed = true;
    else *to = '\0';
    *string = shorter ? ompp_profile_string(p, shorter) : 0;
    free(shorter);
}

/* Wherever the name of the host stands as a word, it goes. */
static void hide_host(ompp_profile_t *p, ompp_str_t *string, const char *host)
{
    const size_t n = strlen(host);
    const char *const text = ompp_profile_text(p, *string);
    char *hidden = n && strstr(text, host) ? malloc(strlen("host") * strlen(text) + 1) : NULL, *to = hidden;

    if (!hidden) return;
    for (const char *at = text; *at;) {
        const bool begins = at == text || !isalnum((unsigned char)at[-1]);
        if (begins && strncmp(at, host, n) == 0 && !isalnum((unsigned char)at[n])) {
            to = stpcpy(to, "host");
            at += n;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
    *string = ompp_profile_string(p, hidden);
    free(hidden);
}

/* For what is a path and nothing else: blanks and other characters that end words in a text are part of it. */
static void hide_directory(ompp_profile_t *p, ompp_str_t *path)
{
    char *last = strdup(ompp_path_last(ompp_profile_text(p, *path)));

    if (!last) p->failed = true;
    *path = last ? ompp_profile_string(p, last) : 0;
    free(last);
}

/* ---- Directories in texts that cannot be told from the text around them ------------------------------------------ */

typedef struct {
    char **dir;
    size_t n, allocated;
} known_t;

static bool is_known(const known_t *known, const char *path, size_t n)
{
    for (size_t i = 0; i < known->n; i++)
        if (strlen(known->dir[i]) == n && strncmp(known->dir[i], path, n) == 0) return true;
    return false;
}

/* The directory in front of the last part of a path. */
static void know(ompp_profile_t *p, known_t *known, const char *path)
{
    const size_t n = (size_t)(ompp_path_last(path) - path);
    char **dir;

    if (strcspn(path, ends_word) >= n || is_known(known, path, n)) return;
    dir = ompp_vector_push(&known->dir, &known->n, &known->allocated, sizeof *known->dir);
    if (dir) *dir = strndup(path, n);
    if (dir && !*dir) known->n--;
    if (!dir || !*dir) p->failed = true;
}

static int longest_first(const void *a, const void *b)
{
    const size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Numbers tell nothing; the report calculates with others. */
static bool stays(const char *name, const char *value)
{
    static const char *const used[] = {
        "OMPP_CTR",        "OMPP_EVAL",       "OMPP_CAUSAL", "OMPP_EFFICIENCY", "OMPP_COLLAPSE_LOCKS",
        "OMPP_TEXT_LIMIT", "OMP_WAIT_POLICY", "PAPI",        "Samples"};

    if (value[strspn(value, "0123456789.,-")] == '\0') return true;
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (strncmp(name, used[i], strlen(used[i])) == 0) return true;
    return false;
}

/* Of the program, of sources and of what the user has set. */
static void know_all(ompp_profile_t *p, known_t *known)
{
    for (size_t i = 0; i < p->nmodules; i++) know(p, known, ompp_profile_text(p, p->modules[i].path));
    for (size_t i = 0; i < p->nregions; i++) know(p, known, ompp_profile_text(p, p->regions[i].file));
    for (size_t i = 0; i < p->nsettings; i++) {
        const ompp_setting_t *s = &p->settings[i];
        char *dir;
        if (stays(ompp_profile_text(p, s->name), ompp_profile_text(p, s->value))) continue;
        const int n = asprintf(&dir, "%s/", ompp_profile_text(p, s->value));
        if (n < 0) {
            p->failed = true;
            break;
        }
        know(p, known, dir);
        dir[n - 1] = '\0';
        know(p, known, dir);
        free(dir);
    }
    if (known->n) qsort(known->dir, known->n, sizeof *known->dir, longest_first);
}

static void hide_known(ompp_profile_t *p, ompp_str_t *string, const known_t *known)
{
    char *text = strdup(ompp_profile_text(p, *string));

    for (size_t i = 0; text && i < known->n; i++)
        for (char *at; (at = strstr(text, known->dir[i]));)
            memmove(at, at + strlen(known->dir[i]), strlen(at + strlen(known->dir[i])) + 1);
    if (!text) p->failed = true;
    *string = text ? ompp_profile_string(p, text) : 0;
    free(text);
}

static void hide_in_text(ompp_profile_t *p, ompp_str_t *string, const known_t *known)
{
    if (known->n) hide_known(p, string, known);
    hide_paths(p, string);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* Nodes are told apart by numbers. */
static void hide_hosts(ompp_profile_t *p)
{
    ompp_str_t *was = calloc(p->nranks_kept + 1, sizeof *was);
    char name[32];
    size_t n = 0;

    if (!was) p->failed = true;
    for (size_t r = 0; was && r < p->nranks_kept; r++) {
        size_t k = 0;
        while (k < n && was[k] != p->ranks[r].host) k++;
        if (k == n) was[n++] = p->ranks[r].host;
        snprintf(name, sizeof name, "host%zu", k);
        p->ranks[r].host = ompp_profile_string(p, name);
        p->ranks[r].job = p->ranks[r].launch = 0;
    }
    for (size_t i = 0; i < p->ncoverage; i++)
        for (size_t k = 0; k < n; k++) {
            const char *host = ompp_profile_text(p, was[k]);
            hide_host(p, &p->coverage[i].subject, host);
            hide_host(p, &p->coverage[i].reason, host);
        }
    free(was);
}

void ompp_report_redact(ompp_profile_t *p)
{
    known_t known = {0};

    hide_hosts(p);
    know_all(p, &known);
    for (size_t i = 0; i < p->nmodules; i++) hide_directory(p, &p->modules[i].path);
    for (size_t i = 0; i < p->nregions; i++) hide_directory(p, &p->regions[i].file);
    for (size_t i = 0; i < p->nobjects; i++) {
        hide_in_text(p, &p->objects[i].name, &known);
        hide_in_text(p, &p->objects[i].origin, &known);
    }
    for (size_t i = 0; i < p->ncoverage; i++) {
        hide_in_text(p, &p->coverage[i].subject, &known);
        hide_in_text(p, &p->coverage[i].reason, &known);
    }
    for (size_t i = 0; i < p->whatif.npoints; i++) hide_in_text(p, &p->whatif.points[i].name, &known);
    for (size_t i = 0; i < p->nsettings; i++) {
        ompp_setting_t *s = &p->settings[i];
        if (stays(ompp_profile_text(p, s->name), ompp_profile_text(p, s->value))) hide_paths(p, &s->value);
        else s->value = ompp_profile_string(p, "(redacted)");
    }
    for (size_t i = 0; i < known.n; i++) free(known.dir[i]);
    free(known.dir);
}
