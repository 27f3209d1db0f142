/**
 * \file
 * ompp doctor: what a measurement of the user's own launch line would meet. Facts of a rank are gathered by a probe,
 * which that line starts in place of the program.
 */
#ifndef OMPP_TOOLS_DOCTOR_H
#define OMPP_TOOLS_DOCTOR_H

#include "image/ompp_bind.h"
#include "tools/common/ompp-color.h"
#include "tools/common/ompp-program.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** What the probe says of one rank; all of it text. "" = nothing to say. */
typedef struct {
    char rank[16], size[16]; /* as the launcher tells; rank "" = nobody launched */
    char launcher[24];       /* openmpi, mpich (and relatives), slurm */
    char wire[8];            /* slurm: by what ranks find each other, pmix or pmi2; "" = nothing */
    char host[100];
    char cpus[400];             /* list of processors it may use */
    char ncpus[16], online[16]; /* online: of the machine */
    char threads[16];           /* OMP_NUM_THREADS */
    char outdir[300];           /* directory for reports, and why nothing can be written there */
    char outdir_why[100];
    char jobdir[300]; /* directory that holds the profile while the program runs; why none */
    char jobdir_why[100];
    char jobdir_new[8];   /* yes: the run would make it */
    char free_mib[24];    /* there */
    char paranoid[16];    /* kernel.perf_event_paranoid */
    char software[100];   /* why software events cannot be had */
    char hardware[100];   /* why hardware events cannot be had */
    char timers[100];     /* why there are no samples by timers */
    char interrupts[8];   /* yes: timers can interrupt system calls */
    char most_hz[16];     /* samples by timers per second */
    char events[100];     /* why there are no samples by perf events */
    char address_mib[24]; /* limit of the address space; "" = none */
    char file_kib[24];    /* limit of file size; "" = none */
    char loaded[8];       /* yes: libompp is in the process */
} ompp_probe_t;

/**
 * \brief The probe: prints what it finds as one line, and ends the process.
 * \param[in] options  of ompp, NULL-terminated.
 */
_Noreturn void ompp_doctor_probe(char *const *options);

/** \brief Reads such a line. \return false when it is another. */
bool ompp_doctor_read(const char *line, ompp_probe_t *probe);

/** One program of a launch line, and what stands in front of it: mpirun -n 1 ./a : -n 1 ./b has two. */
typedef struct {
    char **argv;    /* NULL-terminated; of the second and later ones without the launcher */
    size_t program; /* index of the program's name; of NULL when there is none */
    /* index of what stands in front of it and is ours (ompp and its options); = program when nothing */
    size_t front;
    char **options; /* [noptions] of ompp, those that it takes; NULL-terminated */
    size_t noptions;
    const char *unknown; /* first one that it does not know, or that has no value; NULL = none */
    const char *wrong;   /* what is wrong with the first one that has a wrong value; NULL = none */
} ompp_launch_t;

enum { OMPP_DOCTOR_PROGRAMS = 16 };

/** The user's launch line, taken apart. */
typedef struct {
    ompp_launch_t part[OMPP_DOCTOR_PROGRAMS];
    size_t n;
} ompp_line_t;

/** \return number of words before the NULL. */
size_t ompp_doctor_count(char **words);

/** \brief Finds the programs in a launch line. \return false when one of its parts has none. */
bool ompp_doctor_parse(char **argv, ompp_line_t *line);

/** What came of starting the line with something else in place of the program. */
typedef struct {
    ompp_probe_t *rank; /* [n], owned, free() */
    size_t n;
    int status; /* exit status; -1: ended by a signal, or it took too long */
    bool late;  /* it took too long */
    size_t nwarnings;
    char warnings[16][500]; /* what ompp said, each line once, without "ompp: " and a rank in front */
    char said[600];         /* first line on stderr; "" = none */
    char unloaded[600];     /* line of the dynamic linker about what it could not preload; "" = none */
} ompp_started_t;

/**
 * \brief Starts the launch line with other words in place of its programs, for a limited time.
 * \param[in] words  [line->n] of each; NULL-terminated.
 */
void ompp_doctor_start(const ompp_line_t *line, char *const *const *words, ompp_started_t *started);

/** Lines of a run about its settings. */
typedef struct {
    size_t n;
    struct {
        char text[1200];
        bool remark; /* it is counted, but ... */
    } line[32];
    char no_data[2000]; /* names of OMPP_DATA that are not there, with commas in front and behind */
} ompp_doctor_said_t;

/**
 * \brief Adds what a run of a program would say of OMPP_EVAL1, ... and OMPP_DATA as they are set now.
 * \param[in] lib       directory of our libraries.
 * \param[in] measured  the counters that are refused are among what was said there.
 */
void ompp_doctor_settings(const char *program, const char *lib, const ompp_started_t *measured,
                          ompp_doctor_said_t *said);

/** \brief Does a run refuse this counter (OMPP_CTR1=NAME is not counted: ...)? */
bool ompp_doctor_is_refused(const ompp_started_t *measured, const char *variable, const char *name);

/** A program of the line. */
typedef struct {
    ompp_launch_t *line;
    ompp_program_t program;
    ompp_needs_t needs;
    bool fits;                  /* can be measured */
    bool instrumented;          /* built with kinst-ompp */
    char mpi_library[PATH_MAX]; /* ours for the program's MPI; "" = none */
    const char *family;         /* of the program's MPI: openmpi, mpich, other; "" = none */
    bool mpi, openmp;           /* it has MPI, OpenMP: by its file, or by an option */
} ompp_part_t;

/** What is known of the user's line when the verdicts are spoken. */
typedef struct {
    ompp_line_t line;
    ompp_part_t part[OMPP_DOCTOR_PROGRAMS];
    ompp_started_t plain, measured;
    ompp_doctor_said_t said;
    /* what the launcher is to be told, for ranks bound to too few processors; NULL = nothing */
    const ompp_bind_t *bind;
    int threads;       /* of such a rank; 0 = not said */
    int num_threads;   /* OMP_NUM_THREADS that the program should have; 0 = what the user has set */
    const char *needs; /* option without which the launcher starts nothing; NULL = none */
    bool bad;
} ompp_doctor_t;

/* ---- How things are said (ompp-doctor-print.c) ------------------------------------------------------------------- */

typedef enum { OMPP_FINE, OMPP_NOTE, OMPP_BAD } ompp_verdict_t;

/** \brief Prints a line. \param[in] topic  what it is about; OMPP_BAD is kept in d->bad. */
__attribute__((format(printf, 4, 5))) void ompp_doctor_say(ompp_doctor_t *d, ompp_verdict_t verdict, const char *topic,
                                                           const char *format, ...);

/** \brief Before the first line. \param[in] as_json  all of it as one object. */
void ompp_doctor_begin(bool as_json, ompp_color_t color);

/** \brief After the last line. \param[in] print_command  prints the words to measure with to stdout; NULL = none. */
void ompp_doctor_end(const ompp_doctor_t *d, void (*print_command)(const ompp_doctor_t *d));

/** \brief Prints what to do about the line before. */
__attribute__((format(printf, 1, 2))) void ompp_doctor_advise(const char *format, ...);

/** \brief Words [begin, end) as a shell takes them, with a blank behind each. */
void ompp_doctor_print_words(char **words, size_t begin, size_t end);

/**
 * \brief Options of ompp, words [begin, end), without the counters and the names of data that are not there.
 * \param[in] no_data  of ompp_doctor_said_t.
 */
void ompp_doctor_print_options(char **words, size_t begin, size_t end, const ompp_started_t *measured,
                               const char *no_data);

/** \brief Prints the help, or where word does not ask for it one line on stderr. \return whether it asks. */
bool ompp_doctor_usage(const char *word);

/* ---- A program of the line (ompp-doctor-program.c) --------------------------------------------------------------- */

/** \brief Looks at the program's file and options, and says what it finds. */
void ompp_doctor_check_program(ompp_doctor_t *d, ompp_part_t *p);

/** \brief Calls a function while the program's options are set as variables, as ompp would set them. */
void ompp_doctor_with_options(ompp_doctor_t *d, ompp_part_t *p, void (*check)(ompp_doctor_t *d, ompp_part_t *p));

/* ---- The line (ompp-doctor-line.c) ------------------------------------------------------------------------------- */

/** \brief Says what the started ranks have told. */
void ompp_doctor_check_line(ompp_doctor_t *d);

/** \return a program whose MPI is another one than the launcher's; NULL = none. */
const ompp_part_t *ompp_doctor_find_alien(const ompp_doctor_t *d, const ompp_probe_t *first);

/**
 * \return what srun has to give to the ranks of a program, and does not; NULL = nothing. Open MPI wants PMIx; MPICH
 *         speaks with PMI2 by itself, and with other things by libraries.
 */
const char *ompp_doctor_missing_wire(const ompp_part_t *p, const ompp_probe_t *first);

/** \return a program whose ranks get less from srun than they need; NULL = none. */
const ompp_part_t *ompp_doctor_find_unwired(const ompp_doctor_t *d, const ompp_probe_t *first);

/** \return whether the launcher is that of an MPI. */
bool ompp_doctor_knows_launcher(const ompp_probe_t *first);

/* ---- Samples (ompp-doctor-samples.c) ----------------------------------------------------------------------------- */

/** \brief Tries both ways to get samples. Takes some 0.1 s of processor time, and SIGPROF. */
void ompp_doctor_try_samples(ompp_probe_t *p);

/**
 * \brief Says what ranks have found.
 * \param[in] timers, interrupts, events  a rank with something to say of them; NULL = none.
 */
void ompp_doctor_check_samples(ompp_doctor_t *d, const ompp_probe_t *timers, const ompp_probe_t *interrupts,
                               const ompp_probe_t *events);

/* ---- The command (ompp-doctor.c) --------------------------------------------------------------------------------- */

/**
 * \brief The command.
 * \param[in] argv launch line, NULL-terminated.
 * \return 0: can be measured; 1: not, or badly; 2: wrong usage.
 */
int ompp_doctor(char **argv);

#endif
