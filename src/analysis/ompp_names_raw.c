/*
 * What raw names say: modules and places in them.
 */
#include "analysis/ompp_names_priv.h"

#include "base/ompp_clock.h"
#include "base/ompp_path.h"
#include "image/ompp_known.h"
#include "model/ompp_raw.h"

#include <stdlib.h>
#include <string.h>

static bool is_module(const char *base, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!base[i] || ompp_raw_letter(base[i]) != name[i]) return false;
    return base[length] == '\0' || length == OMPP_RAW_NAME - 1;
}

const char *ompp_names_module(const ompp_names_t *n, const char *name)
{
    for (size_t i = 0; i < n->profile->nmodules; i++) {
        const char *base = ompp_path_last(ompp_profile_text(n->profile, n->profile->modules[i].path));
        if (is_module(base, name, strlen(name))) return base;
    }
    return name;
}

static ompp_structure_t *structure_of(ompp_names_t *n, const char *name, size_t length)
{
    for (size_t i = 0; i < n->profile->nmodules; i++) {
        const char *path = ompp_profile_text(n->profile, n->profile->modules[i].path), *base = ompp_path_last(path);
        if (!is_module(base, name, length)) continue;
        if (i > 0 && ompp_known_owner(base) != OMPP_OWNER_PROGRAM) return NULL;
        ompp_names_module_t *m = &n->modules[i];
        if (!m->tried && ompp_clock_seconds() < n->deadline) {
            m->tried = true;
            if (ompp_structure_open(path, ompp_profile_text(n->profile, n->profile->modules[i].id), &m->structure) != 0)
                m->structure = NULL;
        }
        return m->structure;
    }
    return NULL;
}

const char *ompp_names_place(ompp_names_t *n, const char *text, ompp_structure_t **structure, uint64_t *at)
{
    const char *plus;
    char *end;

    while (*text == ' ') text++;
    if (!*text || *text == ';') return NULL;
    plus = strpbrk(text, "+; ");
    *at = 0;
    if (!plus || *plus != '+') { /* "?" */
        *structure = NULL;
        return plus ? plus : text + strlen(text);
    }
    if (plus > text) *structure = structure_of(n, text, (size_t)(plus - text));
    *at = strtoull(plus + 1, &end, 16);
    return end;
}
