/**
 * \file
 * ompp's interface for programs. Build with `kinst-ompp`, or compile and link with `ompp-config --cflags --libs`.
 *
 * All functions may be called on any thread at any time; none fails. Where ompp is not linked they do nothing, at the
 * price of one comparison: a program that includes this header needs no library. With OMPP_OFF defined they are not
 * there at all.
 */
#ifndef OMPP_H
#define OMPP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(OMPP_IMPLEMENTATION) || defined(OMPP_OFF)
#define OMPP_WEAK
#else
#define OMPP_WEAK __attribute__((__weak__))
#endif

/** ompP's description of a region, as OPARI 1 writes it. ompp uses the names and lines, and keeps its own in data. */
struct ompregdescr {
    char *name;     /* type of the region: "region" */
    char *sub_name; /* its name */
    int num_sections;
    char *file_name;
    int begin_first_line, begin_last_line, end_first_line, end_last_line;
    void *data; /* NULL at first; written by ompp */
    struct ompregdescr *next;
};

#ifdef OMPP_OFF

#define ompp_region_begin(name) ((void)0)
#define ompp_region_begin_at(name, file, line) ((void)0)
#define ompp_region_end(name) ((void)0)
#define OMPP_REGION(name) ((void)0)
#define POMP_Init() ((void)0)
#define POMP_Finalize() ((void)0)
#define POMP_On() ((void)0)
#define POMP_Off() ((void)0)
#define POMP_Begin(region) ((void)0)
#define POMP_End(region) ((void)0)
#define OMPP_Dump() ((void)0)
#define ompp_progress(name) ((void)0)
#define ompp_progress_begin(name) ((void)0)
#define ompp_progress_end(name) ((void)0)

#else

/**
 * \brief A user region begins, and ends, on this thread. It appears as USER REGION ('name').
 *
 * Regions nest and may be entered recursively. Equal names are one region; its place is the first call that began it,
 * which needs debug information (-g) to be found. An end whose region is not the innermost open one ends those inside
 * it, too; one whose region is not open on this thread, within its parallel region or task, is ignored. Both are
 * counted in the Coverage section.
 * \param[in] name  copied; NULL is ignored. May be made at run time.
 */
void ompp_region_begin(const char *name) OMPP_WEAK;
void ompp_region_end(const char *name) OMPP_WEAK;

/**
 * \brief The same, at a place that the caller knows.
 * \param[in] file, line  borrowed for the call; NULL, 0 = not known.
 */
void ompp_region_begin_at(const char *name, const char *file, unsigned line) OMPP_WEAK;

/** \brief Starts measurement (optional: the first event does it). */
void POMP_Init(void) OMPP_WEAK;

/**
 * \brief Nothing is measured of what is entered from now on. The report is written at the end of the program all the
 *        same.
 */
void POMP_Finalize(void) OMPP_WEAK;

/** \brief Measurement on, or off, for what is entered from now on, on all threads of this process. */
void POMP_On(void) OMPP_WEAK;
void POMP_Off(void) OMPP_WEAK;

/**
 * \brief ompP's own calls for a user region.
 * \param[in] region  static; the same object for begin and end. NULL is ignored.
 */
void POMP_Begin(struct ompregdescr *region) OMPP_WEAK;
void POMP_End(struct ompregdescr *region) OMPP_WEAK;

/** \brief Writes a report of this process now; it is marked incremental. Measurement goes on. */
void OMPP_Dump(void) OMPP_WEAK;

/**
 * \brief The bytes at address belong to a data structure of this name from now on; counters that can tell structures
 *        apart count for it (docs/data.md). Any number of structures; ranges of the same name are one structure; where
 *        ranges overlap, the last one counts.
 * \param[in] name  copied; NULL or "" = the address.
 */
void ompp_papi_set_drange(void *address, size_t size, const char *name) OMPP_WEAK;
void OMPP_papi_set_drange(void *address, size_t size, const char *name) OMPP_WEAK;

/** \brief The range that begins at address belongs to no structure any more: call it before the memory is freed. */
void ompp_release_drange(void *address) OMPP_WEAK;

/**
 * \brief The program has done a unit of work of this kind: an iteration, a request. What causal profiling (OMPP_CAUSAL,
 *        docs/causal.md) predicts is the gain in such units per second. Without it this costs a comparison.
 *        OMPP_PROGRESS is the same.
 * \param[in] name  copied; NULL is ignored.
 */
void ompp_progress(const char *name) OMPP_WEAK;

/**
 * \brief A unit of this kind begins, and ends, on any thread: how many are under way, and for how long each.
 *        OMPP_BEGIN, OMPP_END.
 */
void ompp_progress_begin(const char *name) OMPP_WEAK;
void ompp_progress_end(const char *name) OMPP_WEAK;

#ifndef OMPP_IMPLEMENTATION

#define ompp_region_begin(name) (ompp_region_begin ? ompp_region_begin(name) : (void)0)
#define ompp_region_begin_at(name, file, line) (ompp_region_begin_at ? ompp_region_begin_at(name, file, line) : (void)0)
#define ompp_region_end(name) (ompp_region_end ? ompp_region_end(name) : (void)0)
#define POMP_Init() (POMP_Init ? POMP_Init() : (void)0)
#define POMP_Finalize() (POMP_Finalize ? POMP_Finalize() : (void)0)
#define POMP_On() (POMP_On ? POMP_On() : (void)0)
#define POMP_Off() (POMP_Off ? POMP_Off() : (void)0)
#define POMP_Begin(region) (POMP_Begin ? POMP_Begin(region) : (void)0)
#define POMP_End(region) (POMP_End ? POMP_End(region) : (void)0)
#define OMPP_Dump() (OMPP_Dump ? OMPP_Dump() : (void)0)

#define ompp_papi_set_drange(address, size, name) \
    (ompp_papi_set_drange ? ompp_papi_set_drange(address, size, name) : (void)0)
#define OMPP_papi_set_drange(address, size, name) \
    (OMPP_papi_set_drange ? OMPP_papi_set_drange(address, size, name) : (void)0)
#define ompp_release_drange(address) (ompp_release_drange ? ompp_release_drange(address) : (void)0)

#define ompp_progress(name) (ompp_progress ? ompp_progress(name) : (void)0)
#define ompp_progress_begin(name) (ompp_progress_begin ? ompp_progress_begin(name) : (void)0)
#define ompp_progress_end(name) (ompp_progress_end ? ompp_progress_end(name) : (void)0)

#define OMPP_JOIN2(a, b) a##b
#define OMPP_JOIN(a, b) OMPP_JOIN2(a, b)

/**
 * \brief From here to the end of the block is a user region, whichever way the block is left: also by return, goto,
 *        break, and in C++ by an exception. A declaration. \param[in] name must stay valid until the end of the block.
 */
#ifdef __cplusplus
#define OMPP_REGION(name) const ::ompp::region OMPP_JOIN(ompp_region_here_, __LINE__)(name, __FILE__, __LINE__)
#else
#define OMPP_REGION(name)                                                                                            \
    const char *OMPP_JOIN(ompp_region_here_, __LINE__) __attribute__((__cleanup__(ompp_region_leave), __unused__)) = \
        ompp_region_here(name, __FILE__, __LINE__)

static __inline__ __attribute__((__unused__)) const char *ompp_region_here(const char *name, const char *file,
                                                                           unsigned line)
{
    ompp_region_begin_at(name, file, line);
    return name;
}

static __inline__ __attribute__((__unused__)) void ompp_region_leave(const char **name) { ompp_region_end(*name); }
#endif

#endif /* OMPP_IMPLEMENTATION */
#endif /* OMPP_OFF */

#ifndef OMPP_IMPLEMENTATION
/* Progress points, as of coz.h. */
#define OMPP_PROGRESS(name) ompp_progress(name)
#define OMPP_BEGIN(name) ompp_progress_begin(name)
#define OMPP_END(name) ompp_progress_end(name)
#endif

#ifdef __cplusplus
}

#if !defined(OMPP_OFF) && !defined(OMPP_IMPLEMENTATION)
namespace ompp
{

/** What OMPP_REGION declares. */
class region
{
  public:
    region(const char *name, const char *file, unsigned line) : name_(name) { ompp_region_begin_at(name, file, line); }
    ~region() { ompp_region_end(name_); }

  private:
    const char *name_;
    region(const region &);
    region &operator=(const region &);
};

} // namespace ompp
#endif
#endif

#endif
