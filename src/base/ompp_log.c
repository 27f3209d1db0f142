#include "base/ompp_log.h"

#include "base/ompp_write.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

ompp_log_level_t ompp_log_level = OMPP_LOG_WARN;

static int log_rank = -1;

void ompp_log_set_level(ompp_log_level_t level) { ompp_log_level = level; }

void ompp_log_set_rank(int rank) { log_rank = rank; }

/* One write(2) per line, so that lines of several ranks do not mix, and the program's own stderr buffer stays
 * untouched. */
void ompp_log_write(const char *domain, ompp_log_level_t level, bool common, const char *format, ...)
{
    char line[1024];
    int saved_errno = errno, n;
    va_list args;

    if (common && log_rank > 0) return;
    if (level >= OMPP_LOG_DEBUG && log_rank >= 0)
        n = snprintf(line, sizeof line, "ompp: [rank %d] %s: ", log_rank, domain);
    else if (level >= OMPP_LOG_DEBUG) n = snprintf(line, sizeof line, "ompp: %s: ", domain);
    else if (!common && log_rank >= 0) n = snprintf(line, sizeof line, "ompp: rank %d: ", log_rank);
    else n = snprintf(line, sizeof line, "ompp: ");
    va_start(args, format);
    int more = vsnprintf(line + n, sizeof line - n - 1, format, args);
    va_end(args);
    n = more < (int)sizeof line - n - 1 ? n + more : (int)sizeof line - 2;
    line[n++] = '\n';
    ompp_write_stderr(line, (size_t)n);
    errno = saved_errno;
}
