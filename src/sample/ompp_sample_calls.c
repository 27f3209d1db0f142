/*
 * The program and SIGPROF: it finds the action that it would have without us, and a signal of ours never waits where it
 * could be found. From the moment when it uses the signal itself, there are no samples any more. Only a child knows
 * that it is one: calls of those that share our memory are left alone.
 */
#define _GNU_SOURCE
#include "sample/ompp_sample_priv.h"

#include "base/ompp_caller.h"
#include "image/ompp_dso.h"
#include "image/ompp_intercept.h"
#include "preload/ompp_dlopen_watch.h"
#include "runtime/ompp_callpath.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __x86_64__
#define RESTORER 0x04000000 /* SA_RESTORER */
#else
#define RESTORER 0
#endif
#ifndef SA_INTERRUPT
#define SA_INTERRUPT 0x20000000
#endif

static _Atomic pid_t installed;   /* process whose action for SIGPROF is our handler; 0 = none */
static struct sigaction programs; /* what it would be */
static const char *_Atomic used;  /* why the program has it now */

/* ---- The action -------------------------------------------------------------------------------------------------- */

static _Atomic bool seen; /* a handler of the program that may come at any time */

/* They print where the program is, and end it. All programs in Fortran have them. */
static bool is_of_fortran(sighandler_t handler)
{
    Dl_info found;

    return dladdr((void *)handler, &found) && found.dli_fname && strstr(found.dli_fname, "libgfortran");
}

/* A handler that may come at any time may leave our code by longjmp(). */
static void see_handler(int signal, sighandler_t handler)
{
    if (handler == SIG_DFL || handler == SIG_IGN || handler == SIG_ERR || !ompp_signals_can_wait(signal) ||
        (uintptr_t)handler == (uintptr_t)ompp_sample_handle || is_of_fortran(handler))
        return;
    atomic_store(&seen, true);
    atomic_store(&ompp_signals_are_handled, true);
}

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static sighandler_t (*real_signal)(int, sighandler_t), (*real_sysv_signal)(int, sighandler_t);
static sighandler_t (*real_sigset)(int, sighandler_t);
static int (*real_sigignore)(int), (*real_siginterrupt)(int, int);
static int (*real_setitimer)(__itimer_which_t, const struct itimerval *, struct itimerval *);

static bool is_ours(int signal)
{
    const pid_t process = signal == SIGPROF ? atomic_load(&installed) : 0;

    return process && process == getpid();
}

static void give_up(const char *why)
{
    const int saved = errno;
    pid_t process = getpid();

    if (!atomic_compare_exchange_strong(&installed, &process, 0)) return;
    atomic_store(&used, why);
    ompp_sampler_stop(true);
    ompp_sample_set_default(&programs);
    errno = saved;
}

const char *ompp_sample_why_given_up(void) { return atomic_load(&used); }

/* Many programs give all signals their default action. */
static bool is_default(const struct sigaction *action) { return action->sa_handler == SIG_DFL; }

/* Its default action, as the program sets it: the C library adds a flag. */
static void note(int flags, const sigset_t *mask)
{
    programs = (struct sigaction){.sa_mask = *mask, .sa_flags = flags | RESTORER};
}

static int follow_sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
    if (action) see_handler(signal, action->sa_handler);
    if (is_ours(signal) && action && !is_default(action)) give_up("the program has a handler for SIGPROF");
    if (!is_ours(signal)) return real_sigaction(signal, action, before);
    const struct sigaction last = programs;
    if (action) note(action->sa_flags, &action->sa_mask);
    if (before) *before = last;
    return 0;
}

static sighandler_t set(int signal, sighandler_t handler, int flags, sighandler_t (*real)(int, sighandler_t))
{
    see_handler(signal, handler);
    if (is_ours(signal) && handler == SIG_DFL) {
        sigset_t mask;
        sigemptyset(&mask);
        if (!(flags & SA_NODEFER)) sigaddset(&mask, signal);
        note(flags, &mask);
        return SIG_DFL;
    }
    if (is_ours(signal)) give_up("the program has a handler for SIGPROF");
    return real(signal, handler);
}

static sighandler_t follow_signal(int signal, sighandler_t handler)
{
    return set(signal, handler, SA_RESTART, real_signal);
}

static sighandler_t follow_sysv_signal(int signal, sighandler_t handler)
{
    return set(signal, handler, (int)SA_RESETHAND | SA_NODEFER | SA_INTERRUPT, real_sysv_signal);
}

static sighandler_t follow_sigset(int signal, sighandler_t handler)
{
    see_handler(signal, handler);
    if (is_ours(signal)) give_up("the program uses SIGPROF (sigset)");
    return real_sigset(signal, handler);
}

static int follow_sigignore(int signal)
{
    if (is_ours(signal)) give_up("the program ignores SIGPROF");
    return real_sigignore(signal);
}

static int follow_siginterrupt(int signal, int flag)
{
    if (is_ours(signal)) give_up("the program uses SIGPROF (siginterrupt)");
    return real_siginterrupt(signal, flag);
}

static int follow_setitimer(__itimer_which_t which, const struct itimerval *wanted, struct itimerval *before)
{
    const bool starts = which == ITIMER_PROF && wanted && (wanted->it_value.tv_sec || wanted->it_value.tv_usec);

    if (starts && is_ours(SIGPROF)) give_up("the program has a profiling timer of its own (ITIMER_PROF)");
    return real_setitimer(which, wanted, before);
}

/* ---- Signals that are blocked ------------------------------------------------------------------------------------ */

static int (*real_pthread_sigmask)(int, const sigset_t *, sigset_t *);
static int (*real_sigprocmask)(int, const sigset_t *, sigset_t *);
static int (*real_sigblock)(int), (*real_sigsetmask)(int), (*real_sighold)(int), (*real_sigrelse)(int);

static int changed(int result)
{
    const int saved = errno;

    ompp_sampler_mask_changed();
    errno = saved;
    return result;
}

static bool may_change(int how, const sigset_t *set)
{
    return ompp_sample_self && set && (how == SIG_SETMASK || sigismember(set, SIGPROF) == 1);
}

static int follow_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    const bool may = may_change(how, set); /* before may be the same place */
    const int result = real_pthread_sigmask(how, set, before);

    return may ? changed(result) : result;
}

static int follow_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    const bool may = may_change(how, set);
    const int result = real_sigprocmask(how, set, before);

    return may ? changed(result) : result;
}

static int follow_sigblock(int mask) { return changed(real_sigblock(mask)); }
static int follow_sigsetmask(int mask) { return changed(real_sigsetmask(mask)); }
static int follow_sighold(int signal) { return changed(real_sighold(signal)); }
static int follow_sigrelse(int signal) { return changed(real_sigrelse(signal)); }

/* ---- Which calls ------------------------------------------------------------------------------------------------- */

void ompp_sample_follow(void)
{
    static void *bsd_signal_is_there, *ssignal_is_there, *sysv_signal_is_there; /* other names of the same */
    static const ompp_intercept_t calls[] = {
        {"__sysv_signal", (void *)follow_sysv_signal, (void **)&real_sysv_signal},
        {"bsd_signal", (void *)follow_signal, &bsd_signal_is_there},
        {"pthread_sigmask", (void *)follow_pthread_sigmask, (void **)&real_pthread_sigmask},
        {"setitimer", (void *)follow_setitimer, (void **)&real_setitimer},
        {"sigaction", (void *)follow_sigaction, (void **)&real_sigaction},
        {"sigblock", (void *)follow_sigblock, (void **)&real_sigblock},
        {"sighold", (void *)follow_sighold, (void **)&real_sighold},
        {"sigignore", (void *)follow_sigignore, (void **)&real_sigignore},
        {"siginterrupt", (void *)follow_siginterrupt, (void **)&real_siginterrupt},
        {"signal", (void *)follow_signal, (void **)&real_signal},
        {"sigprocmask", (void *)follow_sigprocmask, (void **)&real_sigprocmask},
        {"sigrelse", (void *)follow_sigrelse, (void **)&real_sigrelse},
        {"sigset", (void *)follow_sigset, (void **)&real_sigset},
        {"sigsetmask", (void *)follow_sigsetmask, (void **)&real_sigsetmask},
        {"ssignal", (void *)follow_signal, &ssignal_is_there},
        {"sysv_signal", (void *)follow_sysv_signal, &sysv_signal_is_there},
    };

    ompp_intercept_everywhere(calls, sizeof calls / sizeof calls[0]);
}

void ompp_sample_follow_handlers(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    struct sigaction action;
    const int saved = errno;

    if (atomic_flag_test_and_set(&done)) return;
    atomic_store(&ompp_signals_are_handled, false);
    ompp_dlopen_watch_tell(ompp_sample_follow);
    ompp_sample_follow();
    for (int signal = 1; signal < NSIG; signal++) /* also those from before */
        if (sigaction(signal, NULL, &action) == 0) see_handler(signal, action.sa_handler);
    if (atomic_load(&seen)) atomic_store(&ompp_signals_are_handled, true);
    errno = saved;
}

/* ---- The handler ------------------------------------------------------------------------------------------------- */

static void see_import(const ompp_dso_t *module, const ompp_dso_import_t *import, void *found)
{
    (void)module;
    if (strcmp(import->name, "__monstartup") == 0) *(bool *)found = true;
}

/* The program's file is the first module. */
static int visit_first(struct dl_phdr_info *info, size_t size, void *found)
{
    ompp_dso_t module;

    (void)size;
    if (ompp_dso_read(info, &module)) ompp_dso_imports(&module, see_import, found);
    return 1;
}

const char *ompp_sample_conflict(void)
{
    struct sigaction action;
    struct itimerval timer;
    bool profiled = false;

    if (sigaction(SIGPROF, NULL, &action) != 0 || !is_default(&action)) return "the program has an action for SIGPROF";
    if (getitimer(ITIMER_PROF, &timer) == 0 && (timer.it_value.tv_sec || timer.it_value.tv_usec))
        return "the program has a profiling timer of its own (ITIMER_PROF)";
    dl_iterate_phdr(visit_first, &profiled);
    return profiled ? "the program is built with -pg, which uses SIGPROF" : NULL;
}

/* Its action is the program's own, and it is not sampled. */
static void in_child(void)
{
    if (atomic_exchange(&installed, 0)) ompp_sample_set_default(&programs);
    ompp_sampler_in_child();
    ompp_callpath_early_forget();
}

const char *ompp_sample_install(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    const char *why = ompp_sample_conflict();

    if (why) return why;
    action.sa_sigaction = ompp_sample_handle;
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask); /* those of the C library, too: nobody is cancelled in it */
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) sigdelset(&action.sa_mask, faults[i]);
    if (sigaction(SIGPROF, &action, &programs) != 0) return strerror(errno);
    atomic_store(&installed, getpid());
    pthread_atfork(NULL, NULL, in_child);
    ompp_sample_follow();
    return NULL;
}
