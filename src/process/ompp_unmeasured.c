#define _GNU_SOURCE
#define OMPP_LOG_DOMAIN "runtime"
#include "process/ompp_unmeasured_priv.h"

#include "base/ompp_env.h"
#include "base/ompp_log.h"
#include "base/ompp_path.h"
#include "image/ompp_intercept.h"
#include "image/ompp_known.h"
#include "image/ompp_program.h"
#include "preload/ompp_dlopen_watch.h"
#include "preload/ompp_launch.h"
#include "preload/ompp_loaded.h"
#include "process/ompp_openmp.h"
#include "runtime/ompp_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANDLERS = 32 };

static pid_t process; /* that was started, no child of it */
static bool children; /* what is started is measured, too */

/* ---- Libraries in the process ------------------------------------------------------------------------------------ */

static void look(ompp_loaded_t *loaded)
{
    ompp_loaded_look(loaded);
    if (strcmp(ompp_env.mpi_family, "none") == 0 || strcmp(loaded->wrapped, "other") == 0 ||
        strcmp(loaded->family, "other") == 0)
        loaded->mpi[0] = '\0';
}

/* ---- Nothing was measured ---------------------------------------------------------------------------------------- */

/* It has libraries that nobody could see in its file. */
static bool say_options(const ompp_loaded_t *loaded, const char *openmp)
{
    const bool gomp = openmp && strncmp(openmp, "libgomp", 7) == 0 && !loaded->gomp_reported,
               mpi = *loaded->mpi != '\0';

    if (!(ompp_is_launched() || children) || !(gomp || mpi)) return false;
    ompp_warn_common("use ompp%s%s%s%s --: the program loads %s%s%s by itself; nothing was measured, no report",
                     children ? " --children" : "", gomp ? " --omp-runtime=gomp" : "", mpi ? " --mpi-family=" : "",
                     mpi ? loaded->family : "", gomp ? openmp : "", gomp && mpi ? " and " : "", mpi ? loaded->mpi : "");
    return true;
}

static const char *why_silent(const char *openmp, const ompp_loaded_t *loaded)
{
    if (strncmp(openmp, "libgomp", 7) != 0) return "used no OpenMP, or not with OMPT";
    return loaded->gomp_reported ? "ran no parallel region"
                                 : "no parallel region was run that is built with kinst-ompp or measured by ompp --";
}

/* No option helps there. */
static const char deep[] = "MPI was opened with RTLD_DEEPBIND, so that its calls do not come by ompp's functions";

static bool is_said(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    return atomic_flag_test_and_set(&said);
}

static void say_of_shell(void)
{
    if (is_said()) return;
    ompp_warn_common(
        "use ompp --children, or put ompp in front of the program that %s starts: nothing was measured, no report",
        ompp_path_last(ompp_program_path()));
}

/* A program that is built with us, and what it would gain was asked for. */
static bool is_asked(void)
{
    if (ompp_is_preloaded()) return false;
    ompp_env_read();
    return strcmp(ompp_env.causal, "off") != 0 || strcmp(ompp_env.efficiency, "full") == 0;
}

/*
 * A program with an OpenMP library that told nothing, or that was launched, or with OMPP_CAUSAL: somebody expects a
 * report. Others (a shell, preloaded) end in silence.
 */
void ompp_unmeasured_say(void)
{
    const char *openmp = ompp_openmp_loaded();
    ompp_loaded_t loaded;

    if (getpid() != process || (!openmp && !ompp_is_launched() && !is_asked())) return; /* a child is somebody else */
    ompp_env_read();
    if (ompp_is_launched() && ompp_known_shell(ompp_program_path())) {
        if (!children) say_of_shell();
        return;
    }
    if (is_said()) return;
    look(&loaded);
    if (say_options(&loaded, openmp)) return;
    if (ompp_dlopen_watch_is_deep()) {
        ompp_warn_common("nothing was measured, no report: %s", deep);
        return;
    }
    if (openmp)
        ompp_warn_common("nothing was measured, no report: the program has %s, and %s", openmp,
                         why_silent(openmp, &loaded));
    else
        ompp_warn_common(
            "nothing was measured, no report: the program has no OpenMP library, and did not begin MPI; counters "
            "(--ctr1=...) and data (--data=...) can be measured in it");
}

/* ---- Before it is too late to say it ----------------------------------------------------------------------------- */

static void (*end_of_process)(void);
static void (*real_exit)(int);
static int (*real_at_exit)(void (*)(void *), void *, void *);

static bool is_silent(void)
{
    return getpid() == process && !children && atomic_load(&ompp_process.state) == OMPP_STATE_NEW;
}

/* Some shells end without exit handlers: what these do is done here, also the report of one in which counters were
 * asked for. */
static void follow_exit(int status)
{
    if (is_silent()) say_of_shell();
    else if (getpid() == process) end_of_process();
    real_exit(status);
}

static void say(void *unused)
{
    (void)unused;
    if (is_silent()) ompp_unmeasured_say();
}

/* Handlers of the program's own may close stderr: ours comes before them. */
static int follow_at_exit(void (*handler)(void *), void *argument, void *module)
{
    static atomic_uint handlers;
    int error = real_at_exit(handler, argument, module);

    if (!error && atomic_fetch_add(&handlers, 1) < HANDLERS) real_at_exit(say, NULL, NULL);
    return error;
}

void ompp_unmeasured_follow(void (*at_exit)(void))
{
    static const ompp_intercept_t exits[] = {{"_Exit", (void *)follow_exit, (void **)&real_exit},
                                             {"_exit", (void *)follow_exit, (void **)&real_exit}};
    static const ompp_intercept_t handlers[] = {{"__cxa_atexit", (void *)follow_at_exit, (void **)&real_at_exit}};

    const char *text = ompp_env_foreign("OMPP_CHILDREN");

    children = ompp_env.children || (text && *text && strcmp(text, "0") != 0);
    process = getpid();
    end_of_process = at_exit;
    if ((ompp_is_launched() || children) && ompp_known_shell(ompp_program_path()))
        ompp_intercept_program(exits, sizeof exits / sizeof exits[0]);
    if (ompp_is_launched() && !ompp_openmp_loaded()) ompp_intercept_program(handlers, 1);
}

/* ---- MPI was not measured ---------------------------------------------------------------------------------------- */

void ompp_unmeasured_mpi(ompp_profile_t *profile)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    const bool other = strcmp(ompp_env.mpi_family, "auto") != 0;
    const bool is_deep = ompp_dlopen_watch_is_deep() && !profile->mpi;
    char why[200], remedy[60] = "", reason[300];
    ompp_loaded_t loaded;

    look(&loaded);
    if (!*loaded.mpi && !is_deep) return;
    if (!*loaded.mpi) snprintf(why, sizeof why, "%s", deep);
    else {
        snprintf(why, sizeof why, "%s%s%sthe program loads %s%s", other ? "--mpi-family=" : "",
                 other ? ompp_env.mpi_family : "", other ? ", and " : "", loaded.mpi, other ? "" : " by itself");
        snprintf(remedy, sizeof remedy, "use ompp --mpi-family=%s --", loaded.family);
    }
    snprintf(reason, sizeof reason, "%s%s%s", why, *remedy ? "; " : "", remedy);
    ompp_profile_add_coverage(profile, OMPP_COVERAGE_MPI_OFF, NULL, reason, 1);
    if (ompp_is_launched() && (ompp_launch_rank() >= 0 || other) && !atomic_flag_test_and_set(&reported))
        ompp_warn_common("%s%sMPI is not measured: %s", remedy, *remedy ? ": " : "", why);
}
