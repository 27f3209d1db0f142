/**
 * \file
 * Files have decimal points and English names of days, whatever locale the program has set for itself.
 */
#ifndef OMPP_PLAIN_LOCALE_H
#define OMPP_PLAIN_LOCALE_H

#include <locale.h>

typedef struct {
    locale_t plain, saved;
} ompp_plain_locale_t;

/** \brief The calling thread has the locale "C" until ompp_plain_locale_end(). Without memory it keeps its own. */
static inline ompp_plain_locale_t ompp_plain_locale_begin(void)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    return (ompp_plain_locale_t){plain, plain ? uselocale(plain) : (locale_t)0};
}

static inline void ompp_plain_locale_end(ompp_plain_locale_t locale)
{
    if (!locale.plain) return;
    uselocale(locale.saved);
    freelocale(locale.plain);
}

#endif
