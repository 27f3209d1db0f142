/*
 * A report for others: without directories, names of hosts and values of the environment.
 */
#define _GNU_SOURCE
#include "report/ompp_report.h"

#include "base/ompp_path.h"

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

static void hide_paths(ompp_profile_t *p, ompp_str_t *string)
{
    const char *text = ompp_profile_text(p, *string);
    char *shorter = malloc(strlen(text) + 1), *to = shorter;

    for (; shorter && *text;) {
        const size_t n = strcspn(text, ends_word);
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

/* Numbers tell nothing; the report calculates with others. */
static bool stays(const char *name, const char *value)
{
    static const char *const used[] = {"OMPP_CTR",        "OMPP_EVAL",       "OMPP_CAUSAL", "OMPP_COLLAPSE_LOCKS",
                                       "OMPP_TEXT_LIMIT", "OMP_WAIT_POLICY", "PAPI"};

    if (value[strspn(value, "0123456789.,-")] == '\0') return true;
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (strncmp(name, used[i], strlen(used[i])) == 0) return true;
    return false;
}

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
    hide_hosts(p);
    for (size_t i = 0; i < p->nmodules; i++) hide_directory(p, &p->modules[i].path);
    for (size_t i = 0; i < p->nregions; i++) hide_directory(p, &p->regions[i].file);
    for (size_t i = 0; i < p->nobjects; i++) {
        hide_paths(p, &p->objects[i].name);
        hide_paths(p, &p->objects[i].origin);
    }
    for (size_t i = 0; i < p->ncoverage; i++) {
        hide_paths(p, &p->coverage[i].subject);
        hide_paths(p, &p->coverage[i].reason);
    }
    for (size_t i = 0; i < p->whatif.npoints; i++) hide_paths(p, &p->whatif.points[i].name);
    for (size_t i = 0; i < p->nsettings; i++) {
        ompp_setting_t *s = &p->settings[i];
        if (stays(ompp_profile_text(p, s->name), ompp_profile_text(p, s->value))) hide_paths(p, &s->value);
        else s->value = ompp_profile_string(p, "(redacted)");
    }
}
