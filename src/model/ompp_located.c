/*
 * What is the same wherever names of OMPP_DATA are looked up: how the list is written, and what is said of an answer.
 */
#include "model/ompp_located.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Commas in "a(1:5,2)" and "pair<int, long>::x" separate nothing. */
char *ompp_locate_next(char **rest)
{
    char *begin = *rest;
    int depth = 0;

    if (!begin) return NULL;
    for (char *p = begin;; p++) {
        depth += *p && strchr("([<", *p) ? 1 : *p && strchr(")]>", *p) ? -1 : 0;
        if (*p && (*p != ',' || depth > 0)) continue;
        *rest = *p ? p + 1 : NULL;
        *p = '\0';
        break;
    }
    while (isspace((unsigned char)*begin)) begin++;
    for (size_t n = strlen(begin); n && isspace((unsigned char)begin[n - 1]);) begin[--n] = '\0';
    return begin;
}

static void say_of_line(const ompp_locate_t *answer, bool hooks, char *why, size_t n)
{
    if (!hooks) snprintf(why, n, "blocks are followed in programs built with kinst-ompp --memory only");
    else if (answer->found == 0)
        snprintf(why, n, "no code of this line%s%s", *answer->text ? "; there is some of " : "", answer->text);
}

void ompp_locate_why(const ompp_locate_t *answer, bool hooks, char *why, size_t n)
{
    /* For what has a remark: its data lies elsewhere. */
    static const char *const remedy[] = {
        [false] = "; for that, build with kinst-ompp --memory and name the line that allocates it (FILE:LINE)",
        [true] =
            "; for that, name the line that allocates it (FILE:LINE), or take OMPP_DATA=all, which reports all data",
    };
    const char *between = answer->no_part ? ""
                          : hooks ? " (heap blocks and local variables: OMPP_DATA=all reports them all, each by its "
                                    "name; or name the line that allocates a block)"
                                  : " (heap blocks: name the line that allocates them; others: in the source)";

    *why = '\0';
    if (answer->is_line) say_of_line(answer, hooks, why, n);
    else if (answer->found > 1) snprintf(why, n, "there are %zu, name one: %s", answer->found, answer->text);
    else if (answer->found == 1 && answer->size > 0)
        snprintf(why, n, "%s%s", answer->text, answer->lies_elsewhere ? remedy[hooks] : "");
    else
        snprintf(why, n, "%s%s%s", answer->no_part ? "" : "no variable of this name and a fixed address",
                 !answer->no_part && *answer->text ? "; there is " : between, answer->text);
}
