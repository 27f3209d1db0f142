/*
 * Evaluators: an expression becomes a list of steps for a stack machine, once; a row is computed by running it. Written
 * here because the library for it (muParser) brings the C++ library and an OpenMP runtime into the measured process.
 */
#define _GNU_SOURCE
#include "analysis/ompp_eval.h"

#include "base/ompp_nearest.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
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

#define MAX_DEPTH 64 /* of brackets, and of the stack */
#define MAX_NAME 32  /* of a column in capitals */

typedef enum { PUSH, COLUMN, COUNTER, NEGATE, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, CALL1, CALL2 } op_t;

typedef struct {
    op_t op;
    union {
        double number;
        unsigned index;
        double (*of_one)(double);
        double (*of_two)(double, double);
    };
} step_t;

struct ompp_eval {
    const ompp_counter_t *counters;
    size_t ncounters;
    size_t nsteps;
    step_t steps[]; /* never more than the expression has characters */
};

static const struct {
    const char *name;
    double (*of_one)(double);
    double (*of_two)(double, double);
} functions[] = {
    {"sqrt", sqrt, NULL},   {"exp", exp, NULL},   {"log", log, NULL},  {"log2", log2, NULL},
    {"log10", log10, NULL}, {"abs", fabs, NULL},  {"sin", sin, NULL},  {"cos", cos, NULL},
    {"floor", floor, NULL}, {"ceil", ceil, NULL}, {"min", NULL, fmin}, {"max", NULL, fmax},
};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct {
    ompp_eval_t *eval;
    const char *text, *at;
    unsigned depth;    /* of brackets open here */
    unsigned stack;    /* values on the stack here */
    char problem[200]; /* first one; "" = none */
    const char *where;
    char nearest[160]; /* "; nearest: EXECT" of a name that is not there */
} reader_t;

static void sum(reader_t *r);

static bool failed(const reader_t *r) { return r->problem[0] != '\0'; }

/* The first problem is the one that is told, where it was seen. */
__attribute__((format(printf, 2, 3))) static void fail(reader_t *r, const char *problem, ...)
{
    va_list values;

    if (failed(r)) return;
    va_start(values, problem);
    vsnprintf(r->problem, sizeof r->problem, problem, values);
    va_end(values);
    r->where = r->at;
}

static char next(reader_t *r)
{
    while (isspace((unsigned char)*r->at)) r->at++;
    return failed(r) ? '\0' : *r->at;
}

static bool take(reader_t *r, char c)
{
    if (next(r) != c) return false;
    r->at++;
    return true;
}

static void emit(reader_t *r, step_t step, int grows)
{
    if (failed(r)) return;
    r->stack += (unsigned)grows;
    if (r->stack > MAX_DEPTH) {
        fail(r, "the expression is nested too deeply");
        return;
    }
    r->eval->steps[r->eval->nsteps++] = step;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Names of PAPI have other characters too ("perf::PAGE-FAULTS"): the longest name of a counter that stands here. */
static bool counter(reader_t *r)
{
    size_t longest = 0, best = 0;

    for (size_t i = 0; i < r->eval->ncounters; i++) {
        size_t n = strlen(r->eval->counters[i].name);
        if (n <= longest || strncmp(r->at, r->eval->counters[i].name, n) != 0 || is_name(r->at[n])) continue;
        longest = n;
        best = i;
    }
    if (!longest) return false;
    emit(r, (step_t){COUNTER, {.index = (unsigned)best}}, 1);
    r->at += longest;
    return true;
}

static bool column(reader_t *r, size_t n)
{
    for (unsigned c = 0; c < OMPP_COLUMN_NUM; c++) {
        const char *title = ompp_columns[c].title;
        size_t k = 0;
        while (k < n && title[k] && toupper((unsigned char)title[k]) == r->at[k]) k++;
        if (k < n || title[k]) continue;
        emit(r, (step_t){COLUMN, {.index = c}}, 1);
        r->at += n;
        return true;
    }
    return false;
}

static void close_bracket(reader_t *r, const char *opened)
{
    if (take(r, ')')) return;
    if (next(r))
        fail(r, "an operator or the bracket that closes the one of character %zu is expected",
             (size_t)(opened - r->text) + 1);
    else fail(r, "the bracket of character %zu is not closed", (size_t)(opened - r->text) + 1);
}

static bool call(reader_t *r, size_t n)
{
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        if (strlen(functions[f].name) != n || strncmp(r->at, functions[f].name, n) != 0) continue;
        r->at += n;
        const char *opened = next(r) == '(' ? r->at : NULL;
        if (!take(r, '(')) {
            fail(r, "%s needs its arguments in brackets", functions[f].name);
            return true;
        }
        sum(r);
        if (functions[f].of_two && !take(r, ','))
            fail(r, "%s takes two arguments, with a comma between them", functions[f].name);
        if (functions[f].of_two) sum(r);
        if (next(r) == ',')
            fail(r, "%s takes %s", functions[f].name, functions[f].of_two ? "two arguments" : "one argument");
        close_bracket(r, opened);
        if (functions[f].of_two) emit(r, (step_t){CALL2, {.of_two = functions[f].of_two}}, -1);
        else emit(r, (step_t){CALL1, {.of_one = functions[f].of_one}}, 0);
        return true;
    }
    return false;
}

static bool is_column(const char *title)
{
    bool is = false;

    for (unsigned c = 0; c < OMPP_COLUMN_NUM && !is; c++) is = ompp_columns[c].title == title;
    return is;
}

/* Length of what the user took for a name: PAPI's have other characters, too. */
static size_t length_meant(const char *at, size_t n)
{
    if (strncmp(at + n, "::", 2) != 0) return n;
    while (is_name(at[n]) || (at[n] && strchr(":-.", at[n]))) n++;
    return n;
}

/* Titles of columns are those of tables: they are written in capitals here. */
static void find_nearest(reader_t *r, size_t n)
{
    char *wanted = strndup(r->at, length_meant(r->at, n));
    ompp_nearest_t nearest;
    size_t used = 0;

    if (!wanted || failed(r)) {
        free(wanted);
        return;
    }
    ompp_nearest_begin(&nearest, wanted);
    for (size_t i = 0; i < r->eval->ncounters; i++)
        ompp_nearest_offer(&nearest, r->eval->counters[i].name, r->eval->counters[i].name);
    for (unsigned c = 0; c < OMPP_COLUMN_NUM; c++)
        ompp_nearest_offer(&nearest, ompp_columns[c].title, ompp_columns[c].title);
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++)
        ompp_nearest_offer(&nearest, functions[f].name, functions[f].name);
    for (size_t i = 0; i < nearest.n && used < sizeof r->nearest; i++) {
        const char *found = nearest.best[i].item;
        size_t at = used + strlen(i ? ", " : "; nearest: ");
        used += (size_t)snprintf(r->nearest + used, sizeof r->nearest - used, "%s%s", i ? ", " : "; nearest: ", found);
        for (; is_column(found) && at < sizeof r->nearest && r->nearest[at]; at++)
            r->nearest[at] = (char)toupper((unsigned char)r->nearest[at]);
    }
    free(wanted);
}

/* A derived metric by the name of its column. */
static const ompp_derived_t *derived_of(const char *text)
{
    for (size_t i = 0; i < ompp_nderived; i++)
        if (strncmp(text, ompp_derived[i].name, strlen(ompp_derived[i].name)) == 0) return &ompp_derived[i];
    return NULL;
}

static void name(reader_t *r)
{
    size_t n = 0;

    while (is_name(r->at[n])) n++;
    if (counter(r) || column(r, n) || call(r, n)) return;
    const ompp_derived_t *derived = derived_of(r->at);
    if (!derived) find_nearest(r, n);
    if (derived)
        fail(r, "%s is a column that appears by itself, and has no name in expressions; it is %s", derived->name,
             derived->expression);
    else if (r->at[n] == '(' && !r->nearest[0])
        fail(r, "no function; of data structures there are the columns that the tables have, as loads(name) and "
                "stores(name)");
    else fail(r, "neither a counter in use nor a column (EXECT, EXECC, BODYT, ...) nor a function");
}

static void number(reader_t *r)
{
    char *end;
    double value = strtod(r->at, &end);

    emit(r, (step_t){PUSH, {.number = value}}, 1);
    r->at = end;
}

static void factor(reader_t *r)
{
    char c = next(r);

    const char *const begin = r->at;

    if (++r->depth > MAX_DEPTH) fail(r, "brackets, signs and powers are nested too deeply");
    if (failed(r)) return;
    if (isdigit((unsigned char)c) || c == '.') {
        number(r);
    } else if (is_name(c)) {
        name(r);
    } else if (take(r, '(')) {
        sum(r);
        close_bracket(r, begin);
    } else if (take(r, '-')) {
        factor(r);
        emit(r, (step_t){NEGATE, {0}}, 0);
    } else if (take(r, '+')) {
        factor(r);
    } else {
        fail(r, c ? "a number, a name or an opening bracket is expected" : "a number or a name is missing");
    }
    if (take(r, '^')) {
        factor(r);
        emit(r, (step_t){POWER, {0}}, -1);
    }
    r->depth--;
}

static void product(reader_t *r)
{
    factor(r);
    for (;;) {
        op_t op = take(r, '*') ? MULTIPLY : take(r, '/') ? DIVIDE : PUSH;
        if (op == PUSH) return;
        factor(r);
        emit(r, (step_t){op, {0}}, -1);
    }
}

static void sum(reader_t *r)
{
    product(r);
    for (;;) {
        op_t op = take(r, '+') ? ADD : take(r, '-') ? SUBTRACT : PUSH;
        if (op == PUSH) return;
        product(r);
        emit(r, (step_t){op, {0}}, -1);
    }
}

static ompp_eval_t *compile(const char *expression, const ompp_counter_t *counters, size_t ncounters, char *error,
                            size_t n)
{
    ompp_eval_t *e = calloc(1, sizeof *e + (strlen(expression) + 1) * sizeof e->steps[0]);
    reader_t r = {.eval = e, .text = expression, .at = expression};

    snprintf(error, n, "%s", e ? "" : "out of memory");
    if (!e) return NULL;
    e->counters = counters;
    e->ncounters = ncounters;
    sum(&r);
    if (next(&r) == ')') fail(&r, "no bracket is open that this one closes");
    if (next(&r)) fail(&r, "an operator (+ - * / ^) is expected");
    if (!failed(&r)) return e;
    snprintf(error, n, *r.where ? "%s, at character %zu: '%.30s'%s" : "%s, at character %zu: the end%.0s%s", r.problem,
             (size_t)(r.where - expression) + 1, r.where, r.nearest);
    free(e);
    return NULL;
}

ompp_eval_t *ompp_eval_new(const char *expression, const ompp_values_t *values, char *error, size_t n)
{
    size_t ncounters = 0;
    const ompp_counter_t *counters = ompp_values_counters(values, &ncounters);

    return compile(expression, counters, ncounters, error, n);
}

bool ompp_eval_check(const char *expression, const ompp_counter_t *counters, size_t ncounters, char *error, size_t n)
{
    ompp_eval_t *e = compile(expression, counters, ncounters, error, n);
    const bool ok = e != NULL;

    ompp_eval_free(e);
    return ok;
}

void ompp_eval_free(ompp_eval_t *eval) { free(eval); }

/* ---- Computing --------------------------------------------------------------------------------------------------- */

/* Times in seconds, counts and bytes as they are. */
static double scaled(uint64_t value, unsigned unit)
{
    return unit == OMPP_UNIT_NS ? 1e-9 * (double)value : (double)value;
}

static double of_two(const step_t *s, double a, double b)
{
    switch (s->op) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
    case DIVIDE: return a / b;
    case POWER: return pow(a, b);
    default: return s->of_two(a, b);
    }
}

double ompp_eval_value(const ompp_eval_t *e, const ompp_row_t *row)
{
    double stack[MAX_DEPTH + 1] = {0};
    unsigned n = 0;

    for (size_t i = 0; i < e->nsteps; i++) {
        const step_t *s = &e->steps[i];
        if (s->op == PUSH) stack[n++] = s->number;
        else if (s->op == COLUMN) stack[n++] = scaled(row->value[s->index], ompp_columns[s->index].unit);
        else if (s->op == COUNTER) stack[n++] = (double)row->counter[s->index]; /* in the unit of the table, ns too */
        else if (s->op == NEGATE) stack[n - 1] = -stack[n - 1];
        else if (s->op == CALL1) stack[n - 1] = s->of_one(stack[n - 1]);
        else n--, stack[n - 1] = of_two(s, stack[n - 1], stack[n]);
    }
    return isfinite(stack[0]) ? stack[0] : NAN;
}
