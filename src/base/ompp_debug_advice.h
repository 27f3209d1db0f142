/**
 * \file
 * How a user gets debug information of a file that has none. In a header, because the commands share no code with the
 * library.
 */
#ifndef OMPP_DEBUG_ADVICE_H
#define OMPP_DEBUG_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** \return whether a file at this path came with the system, and is nobody's own build. */
static inline bool ompp_is_packaged(const char *path)
{
    static const char *const folders[] = {"/usr/bin/",   "/usr/sbin/", "/usr/lib", "/usr/libexec/",
                                          "/usr/games/", "/bin/",      "/sbin/",   "/lib"};

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0) return true;
    return false;
}

/**
 * \param[in] path      of the file.
 * \param[in] was_apart it names a file with its debug information (.gnu_debuglink).
 * \return what to do, one line.
 */
static inline const char *ompp_debug_advice(const char *path, bool was_apart)
{
    if (ompp_is_packaged(path))
        return "it is a package's: install that one's debug symbols (Debian: NAME-dbgsym), or put what "
               "'debuginfod-find debuginfo FILE' "
               "fetches under /usr/lib/debug/.build-id";
    if (was_apart)
        return "it was put into a file of its own, which is not here: install that (Debian: NAME-dbgsym; debuginfod), "
               "or, if the "
               "program is yours, compile with -g";
    return "compile with -g; it changes no code";
}

#endif
