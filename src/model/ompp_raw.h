/**
 * \file
 * Raw names of structures that the user has not named: what hooks know of them. The same on all ranks; the report
 * (analysis/ompp_names.c) turns them into names of the source.
 *
 *     \1g MODULE+LOW SYMBOL            a variable: its address in the module's file
 *     \1t MODULE+OFFSET SYMBOL         a variable of threads: its offset in the module's template
 *     \1h KEY PLACE PLACE ...          blocks of the heap: where their calls return to, innermost first
 *     \1s PLACE OFFSET SIZE FRAME      so many bytes of a procedure's frame, OFFSET below its CFA, which is FRAME above
 *                                      the stack pointer
 *     \1r MODULE, \1c MODULE, \1d MODULE   read-only data, code, other data of a module
 *     \1u WHY                          not known, and why
 *
 * PLACE is MODULE+ADDRESS, "+ADDRESS" in the module of the one before, or "?". Numbers are hexadecimal. A structure's
 * origin begins with OMPP_OBJECT_ALL; behind it stands what was seen to point to blocks of the heap, each behind a ';':
 *
 *     g MODULE+ADDRESS                 a word of a module's data
 *     f MODULE+ADDRESS                 the same, but it may be left of a block that was there before
 *     h KEY OFFSET                     a word in a block of this key, behind what pointers to such blocks point to
 *     r PLACE BELOW                    the word that the allocating call has stored the address to: of a frame, so far
 *                                      below its CFA, or, with BELOW 0, of a module's data
 *     m OFFSET LOADS STORES L1 L2 L3   accesses to an offset, of those that are followed, and misses of each level
 *     s PLACE OFFSET SP OUTER ...
 *                                    a word of a frame: below its CFA, above its stack pointer at this place;
 *       OUTER OUTER OUTER          behind it where the callers go on, outwards
 */
#ifndef OMPP_RAW_H
#define OMPP_RAW_H

#define OMPP_RAW_MARK '\1'

#define OMPP_RAW_NAME 80 /* bytes of MODULE at most, with a terminating zero */

/** \return a letter of a file's name as MODULE has it. */
static inline char ompp_raw_letter(char c) { return c == '+' || c == ' ' || c == ';' ? '_' : c; }

#endif
