/*
 * Profiles of other users name programs and sources. What such a profile names is opened when its owner may read it,
 * too: a report would tell him of it.
 */
#define _GNU_SOURCE
#include "base/ompp_regular.h"
#include "tools/report/ompp-report.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_GROUPS = 1024, GROUP = 3, OWNER = 6 };

static struct {
    bool any, several;
    uid_t user;
    gid_t groups[MAX_GROUPS];
    int n;
} maker;

/* bits: as others have them. */
static bool allows(const struct stat *is, mode_t bits)
{
    if (!maker.several && is->st_uid == maker.user) return is->st_mode & bits << OWNER;
    for (int i = 0; !maker.several && i < maker.n; i++)
        if (maker.groups[i] == is->st_gid) return is->st_mode & bits << GROUP;
    return is->st_mode & bits;
}

/* Directory by directory, from the root to the file. */
static bool may(int fd, const struct stat *is)
{
    char link[40], path[PATH_MAX];
    struct stat dir;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0 || path[0] != '/' || !allows(is, S_IROTH)) return false;
    path[n] = '\0';
    for (char *at = strrchr(path, '/'); at; at = strrchr(path, '/')) {
        at[at == path] = '\0';
        if (stat(path, &dir) != 0 || !allows(&dir, S_IXOTH)) return false;
        if (at == path) break;
    }
    return true;
}

void ompp_report_note_maker(const struct stat *is)
{
    const struct passwd *user;

    if (maker.any) {
        maker.several |= is->st_uid != maker.user;
        return;
    }
    maker.any = true;
    maker.user = is->st_uid;
    maker.n = MAX_GROUPS;
    user = getpwuid(is->st_uid);
    if (!user || getgrouplist(user->pw_name, user->pw_gid, maker.groups, &maker.n) < 0) maker.n = 0;
    ompp_regular_may = may;
}

bool ompp_report_is_foreign(void) { return maker.any; }
