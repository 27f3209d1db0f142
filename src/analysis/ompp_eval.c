/*
 * Evaluators through muParser. PAPI's names are no names to it ("perf::PAGE-FAULTS"), so they are replaced by others of the same
 * length, which keeps the positions in its messages those of the user's text.
 */
#define _GNU_SOURCE
#include "config.h"

#include "analysis/ompp_eval.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ompp_derived_t ompp_derived[] = {
    {"IPC", "1", "PAPI_TOT_INS/PAPI_TOT_CYC", "instructions per cycle"},
    {"L1miss%", "%", "100*PAPI_L1_DCM/PAPI_L1_DCA", "level 1 data cache misses of accesses"},
    {"L2miss%", "%", "100*PAPI_L2_TCM/PAPI_L2_TCA", "level 2 cache misses of accesses"},
    {"L3miss%", "%", "100*PAPI_L3_TCM/PAPI_L3_TCA", "level 3 cache misses of accesses"},
    {"TLBm/kI", "1/1000", "1000*PAPI_TLB_DM/PAPI_TOT_INS", "data TLB misses per thousand instructions"},
    {"BRmiss%", "%", "100*PAPI_BR_MSP/PAPI_BR_CN", "mispredicted of conditional branches"},
    {"MFLOP/s", "10^6/s", "1e-6*PAPI_FP_OPS/EXECT", "floating-point operations per second of execution"},
    {"MDPFL/s", "10^6/s", "1e-6*PAPI_DP_OPS/EXECT", "double precision operations per second of execution"},
    {"L3MB/s", "10^6 B/s", "64e-6*PAPI_L3_TCM/EXECT", "bytes of level 3 misses, with lines of 64 bytes, per second"},
    {"faults/s", "1/s", "perf::PAGE-FAULTS/EXECT", "page faults per second of execution"},
};
const size_t ompp_nderived = sizeof ompp_derived / sizeof ompp_derived[0];

#ifdef OMPP_HAVE_MUPARSER

#include <dlfcn.h>
#include <muParserDLL.h>

/*
 * muParser is opened when the first expression is compiled, not linked: it needs the C++ library, and in Debian an OpenMP runtime,
 * which a user's process must not get without being asked.
 */
#define FUNCTIONS(F)                                                                                                   \
    F(mupCreate) F(mupRelease) F(mupDefineNameChars) F(mupDefineVar) F(mupSetExpr) F(mupEval) F(mupError) F(mupGetErrorPos)
static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} mu;

static bool open_library(void)
{
    static const char *const names[] = {"libmuparser.so.2", "libmuparser.so"};
    void *library = NULL;

    if (mu.mupCreate) return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define FIND(name)                                                                                                     \
    mu.name = (__typeof__(mu.name))dlsym(library, #name);                                                              \
    if (!mu.name) return false;
    FUNCTIONS(FIND)
#undef FIND
    return true;
}

#define MAX_TEXT 1000
#define MAX_NAME 32 /* of a column in capitals */

struct ompp_eval {
    muParserHandle_t parser;
    const ompp_counter_t *counters;
    size_t ncounters;
    double columns[OMPP_COLUMN_NUM], values[OMPP_MAX_COUNTERS];
    bool failed;
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Counter whose name stands here, the longest one; ncounters when none does. */
static size_t counter_here(const ompp_eval_t *e, const char *text)
{
    size_t best = e->ncounters, longest = 0;

    for (size_t i = 0; i < e->ncounters; i++) {
        size_t n = strlen(e->counters[i].name);
        if (n > longest && strncmp(text, e->counters[i].name, n) == 0 && !is_name(text[n])) {
            best = i;
            longest = n;
        }
    }
    return best;
}

/* A name of n characters for the parser; names of counters have more than three. */
static void alias(size_t counter, size_t n, char *out)
{
    memset(out, '_', n);
    out[0] = 'c';
    out[1] = (char)('0' + counter / 10);
    out[2] = (char)('0' + counter % 10);
    out[n] = '\0';
}

/* The user's text with aliases. \return false when it is too long. */
static bool translate(const ompp_eval_t *e, const char *text, char *out)
{
    if (strlen(text) >= MAX_TEXT) return false;
    for (size_t i = 0; text[i];) {
        bool starts = i == 0 || !is_name(text[i - 1]);
        size_t counter = starts ? counter_here(e, text + i) : e->ncounters;
        if (counter < e->ncounters) {
            size_t n = strlen(e->counters[counter].name);
            char last = text[i + n];
            alias(counter, n, out + i);
            out[i + n] = last;
            i += n;
        } else {
            out[i] = text[i];
            i++;
        }
        out[i] = '\0';
    }
    return true;
}

static void define_names(ompp_eval_t *e)
{
    char name[MAX_TEXT];

    mu.mupDefineNameChars(e->parser, "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    for (size_t i = 0; i < e->ncounters; i++) {
        size_t n = strlen(e->counters[i].name);
        if (n < 3 || n >= sizeof name) continue;
        alias(i, n, name);
        mu.mupDefineVar(e->parser, name, &e->values[i]);
    }
    for (unsigned c = 0; c < OMPP_COLUMN_NUM; c++) {
        size_t n = 0;
        for (const char *t = ompp_columns[c].title; *t && n + 1 < MAX_NAME; t++) name[n++] = (char)toupper((unsigned char)*t);
        name[n] = '\0';
        mu.mupDefineVar(e->parser, name, &e->columns[c]);
    }
}

/* muParser's message without its full stop and quoted aliases. */
static void say(ompp_eval_t *e, const char *expression, char *error, size_t n)
{
    int position = mu.mupGetErrorPos(e->parser);
    size_t length = strlen(expression), at = position < 0 || (size_t)position > length ? length : (size_t)position;
    const char *shown = at < length ? expression + at : "the end";

    snprintf(error, n, "not understood at character %zu, before '%.40s'; known names: EXECT, EXECC, other columns in capitals, counters",
             at + 1, shown);
}

ompp_eval_t *ompp_eval_new(const char *expression, const ompp_values_t *values, char *error, size_t n)
{
    ompp_eval_t *e = calloc(1, sizeof *e);
    char text[MAX_TEXT];

    snprintf(error, n, "%s", "");
    if (!e) return NULL;
    if (!open_library()) {
        snprintf(error, n, "the library libmuparser.so.2 is missing (Debian package: libmuparser2v5)");
        free(e);
        return NULL;
    }
    e->counters = ompp_values_counters(values, &e->ncounters);
    e->parser = mu.mupCreate(muBASETYPE_FLOAT);
    if (!translate(e, expression, text)) {
        snprintf(error, n, "longer than %d characters", MAX_TEXT - 1);
        ompp_eval_free(e);
        return NULL;
    }
    define_names(e);
    mu.mupSetExpr(e->parser, text);
    mu.mupEval(e->parser);
    if (mu.mupError(e->parser)) {
        say(e, expression, error, n);
        ompp_eval_free(e);
        return NULL;
    }
    return e;
}

double ompp_eval_value(ompp_eval_t *e, const ompp_row_t *row)
{
    for (unsigned c = 0; c < OMPP_COLUMN_NUM; c++)
        e->columns[c] = ompp_columns[c].unit == OMPP_UNIT_NS ? 1e-9 * (double)row->value[c] : (double)row->value[c];
    for (size_t i = 0; i < e->ncounters; i++)
        e->values[i] = e->counters[i].unit == OMPP_UNIT_NS ? 1e-9 * (double)row->counter[i] : (double)row->counter[i];
    double value = mu.mupEval(e->parser);
    return mu.mupError(e->parser) || !isfinite(value) ? NAN : value;
}

void ompp_eval_free(ompp_eval_t *e)
{
    if (!e) return;
    if (e->parser) mu.mupRelease(e->parser);
    free(e);
}

#else

ompp_eval_t *ompp_eval_new(const char *expression, const ompp_values_t *values, char *error, size_t n)
{
    (void)expression;
    (void)values;
    snprintf(error, n, "this ompp was built without evaluators (Debian package: libmuparser-dev)");
    return NULL;
}

double ompp_eval_value(ompp_eval_t *eval, const ompp_row_t *row)
{
    (void)eval;
    (void)row;
    return NAN;
}

void ompp_eval_free(ompp_eval_t *eval)
{
    (void)eval;
}

#endif
