#include "cache/ompp_machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const policies[OMPP_POLICY_NUM] = {
    [OMPP_LRU] = "lru", [OMPP_FIFO] = "fifo", [OMPP_RANDOM] = "random", [OMPP_PLRU] = "plru"};

/* Digits with k, M or G behind them. */
static bool number(const char *word, uint64_t most, uint64_t *value)
{
    char *end;
    const char *unit;
    static const char units[] = "kMG";

    if (!word || *word < '0' || *word > '9') return false;
    *value = strtoull(word, &end, 10);
    if (*end == 'K') *end = 'k';
    if (*end && (unit = strchr(units, *end))) {
        *value <<= 10 * (unit - units + 1);
        end++;
    }
    return !*end && *value > 0 && *value <= most;
}

static bool is_power(uint64_t n) { return n && !(n & (n - 1)); }

static const char *check(const ompp_machine_t *m)
{
    if (!m->level[0].size) return "there is no L1";
    if (!is_power(m->page) || m->page < 1024) return "the size of a page must be a power of 2";
    for (unsigned i = 0; i < OMPP_LEVELS; i++) {
        const ompp_level_t *l = &m->level[i];
        if (!l->size) continue;
        if (i && !m->level[i - 1].size) return "a level is missing";
        if (!is_power(l->line) || l->line < 32 || l->line > 1024) return "lines have 32 to 1024 bytes, a power of 2";
        if (i && l->line < m->level[i - 1].line) return "lines of a level are as long as those above, or longer";
        if (l->ways > OMPP_MOST_WAYS) return "a level has at most 128 ways";
        if (l->size % ((uint64_t)l->ways * l->line)) return "the size of a level is ways x line x sets";
        if (l->policy == OMPP_PLRU && !is_power(l->ways)) return "plru needs a power of 2 of ways";
        if (l->shared && i == 0) return "L1 is not shared";
    }
    for (unsigned i = 0; i < OMPP_TLBS; i++)
        if (m->tlb[i].entries && (m->tlb[i].ways > OMPP_MOST_WAYS || m->tlb[i].entries % m->tlb[i].ways))
            return "the entries of a tlb are ways x sets; at most 128 ways";
    return NULL;
}

static bool finish(ompp_machine_t *m, char *why, size_t n)
{
    const char *wrong = check(m);

    if (wrong) snprintf(why, n, "%s", wrong);
    for (unsigned i = 0; !wrong && i < OMPP_LEVELS && m->level[i].size; i++)
        m->level[i].sets = (uint32_t)(m->level[i].size / m->level[i].ways / m->level[i].line);
    return !wrong;
}

/* ---- Descriptions ------------------------------------------------------------------------------------------------ */

static bool level_word(ompp_level_t *l, const char *word)
{
    for (unsigned i = 0; i < OMPP_POLICY_NUM; i++)
        if (strcmp(word, policies[i]) == 0) return l->policy = (ompp_policy_t)i, true;
    if (strcmp(word, "no-write-allocate") == 0) return l->no_allocate = true;
    if (strcmp(word, "inclusive") == 0) return l->inclusive = true;
    if (strcmp(word, "shared") == 0) return l->shared = true;
    return false;
}

static bool level_line(ompp_level_t *l, char **rest)
{
    uint64_t ways, line;
    const char *word;

    if (!number(strtok_r(NULL, " \t", rest), 1ull << 32, &l->size) ||
        !number(strtok_r(NULL, " \t", rest), OMPP_MOST_WAYS, &ways) ||
        !number(strtok_r(NULL, " \t", rest), 1024, &line))
        return false;
    l->ways = (uint32_t)ways;
    l->line = (uint32_t)line;
    while ((word = strtok_r(NULL, " \t", rest)))
        if (!level_word(l, word)) return false;
    return true;
}

static bool tlb_line(ompp_tlb_t *t, char **rest)
{
    uint64_t entries, ways;

    if (!number(strtok_r(NULL, " \t", rest), 1 << 20, &entries) ||
        !number(strtok_r(NULL, " \t", rest), OMPP_MOST_WAYS, &ways))
        return false;
    *t = (ompp_tlb_t){(uint32_t)entries, (uint32_t)ways};
    return true;
}

static bool one_line(ompp_machine_t *m, char *line)
{
    char *rest, *word = strtok_r(line, " \t", &rest);
    uint64_t value;

    if (!word) return true;
    if (strcmp(word, "name") == 0) return snprintf(m->name, sizeof m->name, "%s", rest), true;
    if (strcmp(word, "page") == 0) {
        const bool is = number(strtok_r(NULL, " \t", &rest), 1 << 30, &value);
        m->page = is ? (uint32_t)value : 0;
        return is;
    }
    const size_t length = strlen(word);
    const unsigned which = (unsigned)(word[length - 1] - '1');
    if (length == 2 && word[0] == 'L' && which < OMPP_LEVELS) return level_line(&m->level[which], &rest);
    if (length == 4 && strncmp(word, "tlb", 3) == 0 && which < OMPP_TLBS) return tlb_line(&m->tlb[which], &rest);
    return false;
}

bool ompp_machine_parse(ompp_machine_t *m, char *text, char *why, size_t n)
{
    unsigned row = 0;

    *m = (ompp_machine_t){.page = 4096};
    for (char *line = text, *next; line; line = next) {
        row++;
        if ((next = strchr(line, '\n'))) *next++ = '\0';
        line[strcspn(line, "#\r")] = '\0';
        if (one_line(m, line)) continue;
        snprintf(why, n, "line %u is none of name, L1 to L3, tlb1, tlb2 and page", row);
        return false;
    }
    return finish(m, why, n);
}

/* ---- This machine ------------------------------------------------------------------------------------------------ */

static bool read_file(const char *root, unsigned index, const char *name, char *text, size_t n)
{
    char path[256];

    snprintf(path, sizeof path, "%s/index%u/%s", root, index, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = file < 0 ? -1 : read(file, text, n - 1);
    if (file >= 0) close(file);
    if (got <= 0) return false;
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return true;
}

static bool read_number(const char *root, unsigned index, const char *name, uint64_t most, uint64_t *value)
{
    char text[32];

    return read_file(root, index, name, text, sizeof text) && number(text, most, value);
}

bool ompp_machine_here(ompp_machine_t *m, const char *root, char *why, size_t n)
{
    char type[32];

    *m = (ompp_machine_t){.name = "this machine", .page = 4096, .tlb = {{64, 4}, {1536, 12}}};
    for (unsigned i = 0; i < 8 && read_file(root, i, "type", type, sizeof type); i++) {
        uint64_t level, size, ways, line;
        if (strcmp(type, "Instruction") == 0 || !read_number(root, i, "level", OMPP_LEVELS, &level)) continue;
        if (!read_number(root, i, "size", 1ull << 32, &size) ||
            !read_number(root, i, "ways_of_associativity", OMPP_MOST_WAYS, &ways) ||
            !read_number(root, i, "coherency_line_size", 1024, &line))
            continue;
        m->level[level - 1] = (ompp_level_t){.size = size, .ways = (uint32_t)ways, .line = (uint32_t)line};
    }
    if (m->level[0].size) return finish(m, why, n);
    snprintf(why, n, "the system does not tell its caches (%s)", root);
    return false;
}
