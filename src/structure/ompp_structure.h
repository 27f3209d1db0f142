/**
 * \file
 * From addresses to source: file, line, function and, for OpenMP code, the lines where a region ends. Called by
 * src/analysis.
 *
 * Addresses are those of the module's file: run-time address minus the load bias (dlpi_addr of dl_iterate_phdr, 0 for a
 * program that is not position-independent). An address that comes from a call is the return address minus one, so that
 * it lies in the call.
 */
#ifndef OMPP_STRUCTURE_H
#define OMPP_STRUCTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** An opened module: its file, and the debug information in it or in a separate file. */
typedef struct ompp_structure ompp_structure_t;

/**
 * \brief Opens a module. Debug information is looked for in the file itself, under /usr/lib/debug by build id, and by
 *        .gnu_debuglink beside the file, in .debug below it and under /usr/lib/debug; a separate file counts only when
 *        its build id (or, without one, its checksum) fits. What -gsplit-dwarf puts into files of its own is read from
 *        FILE.dwp, or the .dwo file where it was compiled, or beside the module, when a question leads there.
 * \param[in]  id  build id in hex that the file must have; anything that is not 16 or more hex digits is not checked.
 *                 May be NULL.
 * \param[out] structure  owned by the caller, ompp_structure_close(); NULL on failure.
 * \return 0, also when there is no debug information: then only symbols are found.
 * \return -OMPP_E_OPEN     no such file, or not readable.
 * \return -OMPP_E_FORMAT   not an ELF file of this machine, or damaged.
 * \return -OMPP_E_VERSION  it has another build id: not the file that ran.
 * \return -OMPP_E_NOMEM.
 */
int ompp_structure_open(const char *path, const char *id, ompp_structure_t **structure);

/**
 * \brief The same, but debug information is only found and not read: what is asked of it is answered by symbols. Takes
 *        little time.
 */
int ompp_structure_open_symbols(const char *path, const char *id, ompp_structure_t **structure);

void ompp_structure_close(ompp_structure_t *structure);

/** \brief Whether debug information was found. */
bool ompp_structure_has_lines(const ompp_structure_t *structure);

/** \brief Whether the module names a file with its debug information, found or not. */
bool ompp_structure_names_debug_file(const ompp_structure_t *structure);

/** \brief Whether a debug file was there that is another user's, and was not read. */
bool ompp_structure_has_foreign_debug_file(const ompp_structure_t *structure);

/**
 * \brief Compilation units whose debug information is in a file of its own (.dwo), which was looked for and not found.
 * \param[out] first  path and reason of one of them, borrowed from the structure.
 */
size_t ompp_structure_missing(const ompp_structure_t *structure, const char **first);

/** \brief Modification time of the module's file, seconds since 1970. A source file that is newer may not fit it. */
int64_t ompp_structure_mtime(const ompp_structure_t *structure);

typedef enum {
    OMPP_EXTENT_NONE,     /* only the line of addr */
    OMPP_EXTENT_CALLS,    /* code between two calls: addr_end is the one that ends it */
    OMPP_EXTENT_LOOP,     /* the same; a loop of a combined construct begins where that does */
    OMPP_EXTENT_OUTLINED, /* code that the compiler has moved to a function of its own (parallel, task) */
    OMPP_EXTENT_FUNCTION  /* the function that addr lies in: its line is that of its declaration */
} ompp_extent_t;

/** Where the code at an address stands: in a function, or where one that is inlined is called. */
typedef struct {
    const char *file, *function;      /* NULL = not known */
    uint32_t line, line_end;          /* as in ompp_query_t */
    uint32_t line_before, line_after; /* the same */
    uint32_t first, last;             /* lines of the function in the file, as far as they are known */
} ompp_source_site_t;

#define OMPP_SITES 8 /* of one address, at most */

/** One question, and its answer. Strings are borrowed from the structure. */
typedef struct {
    uint64_t addr;        /* of the code that begins it; of a call that is a jump, that jump's is put here */
    uint64_t addr_end;    /* of the code that ends it; 0 = not known; the same */
    ompp_extent_t extent; /* how the last line is found */
    /* who is called at addr, when that may be by a jump: a name, or its begin; NULL = it is not asked */
    const char *callee;
    const char *callee_end; /* the same at addr_end */
    /* addr is in a call that the compiler makes for a directive: its line may be that of an inlined function */
    bool directive;
    bool done;            /* answered, if only with nothing; false: the time was over */
    const char *file;     /* NULL = not known */
    const char *function; /* as in the source; the symbol when there is no debug information; NULL = not known */
    const char *symbol;   /* FUNCTION only: of the symbol that addr lies in; NULL = not known */
    uint64_t offset;      /* of addr in the symbol, or in a FUNCTION without one; bytes; 0 when file is known */
    uint32_t line;        /* 0 = not known */
    uint32_t line_end;    /* last line seen of it, >= line; = line when no more is known */
    uint32_t line_before; /* of the code before it and after it in the same function and file, as far as that has */
    uint32_t line_after;  /* another line; 0 = none */
    /* of a directive that may stand in several functions, innermost first; the answer above is of the outermost one */
    size_t nsites; /* 0: it can stand in one alone */
    ompp_source_site_t sites[OMPP_SITES];
} ompp_query_t;

/**
 * \brief Answers questions about one module. Reads only the compilation units that the addresses lie in, each once.
 * \param[in,out] queries   the caller's, shape [n]; order is kept.
 * \param[in]     deadline  ompp_clock_seconds(); checked before a compilation unit is read.
 * \return 0.
 * \return -OMPP_E_TIMEOUT  some are left with done = false.
 * \return -OMPP_E_NOMEM    the same.
 */
int ompp_structure_lookup(ompp_structure_t *structure, ompp_query_t *queries, size_t n, double deadline);

/** \brief Makes a site the answer: one of the question's own. */
void ompp_structure_take(ompp_query_t *query, const ompp_source_site_t *site);

#endif
