/**
 * \file
 * Numbers as reports print them; see ompp_decimal.h.
 */
#include "reader/ompp_decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLACES 18
#define EXACT ((uint64_t)1 << 53) /* whole numbers below it are doubles */
#define MAX_DIGITS 350            /* of an evaluator: what a double can have */

static const char *const words[] = {[OMPP_DECIMAL_NAN] = "nan", [OMPP_DECIMAL_INF] = "inf", [OMPP_DECIMAL_NONE] = ""};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool add_digit(uint64_t *units, char digit)
{
    return !__builtin_mul_overflow(*units, 10, units) &&
           !__builtin_add_overflow(*units, (uint64_t)(digit - '0'), units);
}

static size_t parse_word(const char *p, const char *text, ompp_decimal_t *number)
{
    for (unsigned kind = OMPP_DECIMAL_NAN; kind <= OMPP_DECIMAL_INF; kind++)
        if (strncmp(p, words[kind], 3) == 0) {
            number->kind = (uint8_t)kind;
            return (size_t)(p + 3 - text);
        }
    return 0;
}

size_t ompp_decimal_parse(const char *text, ompp_decimal_t *number)
{
    const char *p = text;

    *number = (ompp_decimal_t){.negative = *p == '-'};
    p += number->negative;
    if (!is_digit(*p)) return parse_word(p, text, number);
    for (; is_digit(*p); p++)
        if (!add_digit(&number->units, *p)) return 0;
    if (*p != '.' || !is_digit(p[1])) return (size_t)(p - text);
    for (p++; is_digit(*p); p++) {
        if (number->places == MAX_PLACES || !add_digit(&number->units, *p)) return 0;
        number->places++;
    }
    return (size_t)(p - text);
}

/* Zeros are counted until another digit follows, so that only what stands between them must go into 64 bits. */
static bool add_long(ompp_decimal_t *number, char digit)
{
    if (digit == '0') {
        number->zeros += number->units != 0;
        return true;
    }
    for (; number->zeros > 0; number->zeros--)
        if (!add_digit(&number->units, '0')) return false;
    return add_digit(&number->units, digit);
}

static size_t parse_long(const char *text, ompp_decimal_t *number)
{
    const char *p = text, *begin;

    *number = (ompp_decimal_t){.negative = *p == '-'};
    p += number->negative;
    for (begin = p; is_digit(*p) || (*p == '.' && number->places == 0 && is_digit(p[1])); p++) {
        if (p - begin > MAX_DIGITS) return 0;
        if (*p == '.') number->places = (uint16_t)strspn(p + 1, "0123456789");
        else if (!add_long(number, *p)) return 0;
    }
    return p == begin ? 0 : (size_t)(p - text);
}

size_t ompp_decimal_parse_evaluator(const char *text, ompp_decimal_t *number)
{
    size_t n = ompp_decimal_parse(text, number), sign, digits;

    if (!n) return parse_long(text, number);
    if (text[n] != 'e') return n;
    sign = text[n + 1] == '-' || text[n + 1] == '+';
    digits = strspn(text + n + 1 + sign, "0123456789");
    if (digits == 0 || digits > 3) return 0;
    number->exponent = (int16_t)strtol(text + n + 1, NULL, 10);
    return n + 1 + sign + digits;
}

size_t ompp_decimal_parse_grouped(const char *text, ompp_decimal_t *number)
{
    const char *p = text;
    int group = 0;
    bool grouped = false;

    *number = (ompp_decimal_t){.negative = *p == '-'};
    p += number->negative;
    for (; is_digit(*p) || (*p == '.' && is_digit(p[1])); p++) {
        if (*p == '.') {
            if (grouped ? group != 3 : group < 1 || group > 3) return 0;
            grouped = true;
            group = 0;
            continue;
        }
        group++;
        if (!add_digit(&number->units, *p)) return 0;
    }
    return group == 0 || (grouped && group != 3) ? 0 : (size_t)(p - text);
}

static uint64_t power_of_10(int power)
{
    uint64_t value = 1;

    while (power-- > 0) value *= 10;
    return value;
}

/* The digits from the right, with the point where it belongs and at least one digit before it. \return their begin. */
static char *print_units(char *end, uint64_t units, int zeros, int places)
{
    char *to = end;

    *to = 0;
    for (int i = 0; i <= places || units; i++) {
        if (i == places && i > 0) *--to = '.';
        *--to = i < zeros ? '0' : (char)('0' + units % 10);
        if (i >= zeros) units /= 10;
    }
    return to;
}

ompp_decimal_text_t ompp_decimal_format(const ompp_decimal_t *number, int digits)
{
    ompp_decimal_text_t t;
    char buffer[OMPP_LAYOUT_EVALUATOR];
    const char *sign = number->negative ? "-" : "";
    uint64_t units = number->units;
    int places = number->places < MAX_DIGITS ? number->places : MAX_DIGITS;

    if (number->kind != OMPP_DECIMAL_FINITE) {
        snprintf(t.text, sizeof t.text, "%s%s", sign, words[number->kind]);
        return t;
    }
    if (digits >= 0 && digits < places && places <= MAX_PLACES && number->zeros == 0) {
        uint64_t unit = power_of_10(places - digits);
        units = units / unit + (units % unit >= unit / 2);
        places = digits;
    }
    snprintf(t.text, sizeof t.text, "%s%s", sign,
             print_units(buffer + sizeof buffer - 1, units, number->zeros, places));
    if (number->exponent) {
        size_t n = strlen(t.text);
        snprintf(t.text + n, sizeof t.text - n, "e%+03d", number->exponent);
    }
    return t;
}

ompp_decimal_text_t ompp_decimal_format_grouped(const ompp_decimal_t *number)
{
    ompp_decimal_text_t plain = ompp_decimal_format(number, -1), t;
    size_t n = strlen(plain.text), to = 0;

    for (size_t i = 0; i < n; i++) {
        if (i > number->negative && (n - i) % 3 == 0) t.text[to++] = '.';
        t.text[to++] = plain.text[i];
    }
    t.text[to] = 0;
    return t;
}

ompp_decimal_t ompp_decimal_shift(const ompp_decimal_t *number, int power)
{
    ompp_decimal_t moved = *number;

    for (; power > 0; power--) {
        if (moved.places > 0) moved.places--;
        else if (__builtin_mul_overflow(moved.units, 10, &moved.units)) moved.kind = OMPP_DECIMAL_INF;
    }
    for (; power < 0; power++) {
        if (moved.places < MAX_PLACES) moved.places++;
        else moved.units /= 10;
    }
    return moved;
}

double ompp_decimal_value(const ompp_decimal_t *number)
{
    double size;
    char text[64];

    if (number->kind == OMPP_DECIMAL_NAN || number->kind == OMPP_DECIMAL_NONE) return NAN;
    if (number->kind == OMPP_DECIMAL_INF) {
        size = INFINITY;
    } else if (number->units < EXACT && number->places <= MAX_PLACES && !number->zeros && !number->exponent) {
        size = (double)number->units / (double)power_of_10(number->places); /* both exact: rounded once */
    } else {
        snprintf(text, sizeof text, "%" PRIu64 "e%d", number->units, number->zeros + number->exponent - number->places);
        size = strtod(text, NULL);
    }
    return number->negative ? -size : size;
}

double ompp_decimal_slack(const ompp_decimal_t *number) { return number->places ? 0.5 / pow(10, number->places) : 0.0; }
