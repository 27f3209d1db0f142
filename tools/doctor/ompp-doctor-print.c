/*
 * How things are said: verdicts and advice, words of the line to measure with as a shell takes them, the help.
 */
#include "tools/doctor/ompp-doctor.h"

#include "model/ompp_located.h"
#include "tools/common/ompp-option.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ompp_doctor_say(ompp_doctor_t *d, ompp_verdict_t verdict, const char *topic, const char *format, ...)
{
    static const char *const words[] = {"ok", "note", "BAD"};
    va_list args;

    va_start(args, format);
    printf("%-4s  %-12s ", words[verdict], topic);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    if (verdict == OMPP_BAD) d->bad = true;
}

void ompp_doctor_advise(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("%-19s-> ", "");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* A word as a shell takes it. */
static void print_word(const char *word)
{
    if (*word && !strpbrk(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")) {
        printf("%s", word);
        return;
    }
    putchar('\'');
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stdout);
    putchar('\'');
}

void ompp_doctor_print_words(char **words, size_t begin, size_t end)
{
    for (size_t i = begin; i < end && words[i]; i++) {
        print_word(words[i]);
        putchar(' ');
    }
}

/* OMPP_DATA without the names that are not there. */
static void print_data(const char *names, const char *no_data)
{
    char *list = strdup(names), *rest = list, *ok = calloc(1, strlen(names) + 10), *look = NULL;

    if (!list || !ok) abort();
    for (char *name; (name = ompp_locate_next(&rest));) {
        if (asprintf(&look, ",%s,", name) < 0) abort();
        if (!strstr(no_data, look)) sprintf(ok + strlen(ok), "%s%s", *ok ? "," : "--data=", name);
        free(look);
    }
    if (*ok) ompp_doctor_print_words((char *[]){ok, NULL}, 0, 1);
    free(list);
    free(ok);
}

void ompp_doctor_print_options(char **words, size_t begin, size_t end, const ompp_started_t *measured,
                               const char *no_data)
{
    const char *value = NULL;
    char *variable;

    for (size_t i = begin; i < end;) {
        const int used = ompp_option_read(words + i, &variable, &value);
        const size_t n = used > 0 ? (size_t)used : 1;
        if (variable && strcmp(variable, "OMPP_DATA") == 0) print_data(value, no_data);
        else if (!ompp_option_wrong(variable, value) &&
                 (!variable || !ompp_doctor_is_refused(measured, variable, value)))
            ompp_doctor_print_words(words, i, i + n);
        free(variable);
        i += n;
    }
}

bool ompp_doctor_usage(const char *word)
{
    const bool asked = word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);

    fprintf(asked ? stdout : stderr,
            "usage: ompp doctor LAUNCH LINE, as in: ompp doctor mpirun -n 4 ./app arguments\n");
    if (!asked) return false;
    printf("Says what can be measured of a program, and with which command. Reads the program's\n"
           "file, and runs the launch line with a probe in place of the program: it does not\n"
           "start. Each line says ok, note or BAD; -> says what to do.\n\n"
           "Examples\n"
           "  ompp doctor ./app\n"
           "  ompp doctor mpirun -n 4 ./app arguments\n"
           "  ompp doctor mpirun -n 4 ompp --data=grid -- ./app arguments\n\n"
           "Exit status: 0 it will work, 1 something is BAD, 2 wrong usage.\n");
    return true;
}
