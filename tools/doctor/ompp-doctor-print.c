/*
 * How things are said: verdicts and advice, words of the line to measure with as a shell takes them, the help.
 */
#include "tools/doctor/ompp-doctor.h"

#include "base/ompp_json.h"
#include "model/ompp_located.h"
#include "tools/common/ompp-option.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool on;
    unsigned lines, advice; /* advice: of the line that is open */
} json;
static bool colored;
static const char *const colors[][2] = {{"", "\033[32m"}, {"", "\033[33m"}, {"", "\033[1;31m"}};

static void put_text(const char *format, va_list args)
{
    char *text;

    if (vasprintf(&text, format, args) < 0) abort();
    ompp_json_text(stdout, text);
    free(text);
}

static void close_line(void)
{
    if (json.advice) putchar(']');
    if (json.lines) putchar('}');
    json.advice = 0;
}

static void open_line(const char *verdict, const char *topic)
{
    close_line();
    printf("%s\n  {\"verdict\": \"%s\", \"topic\": ", json.lines++ ? "," : "", verdict);
    ompp_json_text(stdout, topic);
    fputs(", \"text\": ", stdout);
}

void ompp_doctor_begin(bool as_json, ompp_color_t color)
{
    json.on = as_json;
    colored = !as_json && ompp_color_is_on(color, STDOUT_FILENO);
    if (as_json) fputs("{\"lines\": [", stdout);
}

void ompp_doctor_end(const ompp_doctor_t *d, void (*print_command)(const ompp_doctor_t *d))
{
    char *text = NULL;
    size_t size;

    if (!json.on) {
        if (print_command) {
            printf("\n%s:\n  ", d->bad ? "When that is mended" : "Measure with");
            print_command(d);
            printf("\n");
        }
        return;
    }
    close_line();
    printf("\n], \"bad\": %s", d->bad ? "true" : "false");
    if (print_command) {
        FILE *out = stdout;
        stdout = open_memstream(&text, &size); /* what prints the command prints words */
        if (!stdout) abort();
        print_command(d);
        fclose(stdout);
        stdout = out;
        while (size > 0 && text[size - 1] == ' ') text[--size] = '\0';
        fputs(", \"command\": ", stdout);
        ompp_json_text(stdout, text);
        free(text);
    }
    printf("}\n");
}

void ompp_doctor_say(ompp_doctor_t *d, ompp_verdict_t verdict, const char *topic, const char *format, ...)
{
    static const char *const words[] = {"ok", "note", "BAD"};
    va_list args;

    va_start(args, format);
    if (json.on) {
        open_line(words[verdict], topic);
        put_text(format, args);
    } else {
        printf("%s%-4s%s  %-12s ", colors[verdict][colored], words[verdict], colored ? "\033[0m" : "", topic);
        vprintf(format, args);
        printf("\n");
    }
    va_end(args);
    if (verdict == OMPP_BAD) d->bad = true;
}

void ompp_doctor_advise(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (json.on) {
        fputs(json.advice++ ? ", " : ", \"advice\": [", stdout);
        put_text(format, args);
    } else {
        printf("%-19s-> ", "");
        vprintf(format, args);
        printf("\n");
    }
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
            "usage: ompp doctor [--json] [--color=auto|always|never] LAUNCH LINE, as in: ompp doctor mpirun -n 4 ./app "
            "arguments\n");
    if (!asked) return false;
    printf("Says what can be measured of a program, and with which command. Reads the program's\n"
           "file, and runs the launch line with a probe in place of the program: it does not\n"
           "start. Each line says ok, note or BAD; -> says what to do. --json: the same for programs.\n\n"
           "Examples\n"
           "  ompp doctor ./app\n"
           "  ompp doctor mpirun -n 4 ./app arguments\n"
           "  ompp doctor mpirun -n 4 ompp --data=grid -- ./app arguments\n\n"
           "Exit status: 0 it will work, 1 something is BAD, 2 wrong usage.\n");
    return true;
}
