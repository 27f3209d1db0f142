/**
 * \file
 * What code that counts by itself knows of a thread's counter: numbers alone, for assembly and C. Private to
 * src/data.
 *
 * Objects of the user's program hold such code (ompp_inline.S, ompp_inline.c). When anything here changes, the number
 * behind the names changes with it: an object of before is refused by the linker then, and does not count into the
 * wrong place.
 */
#ifndef OMPP_MAP_LAYOUT_H
#define OMPP_MAP_LAYOUT_H

#define OMPP_INLINE_SELF ompp_memory_self_7   /* thread-local: address of the counter */
#define OMPP_INLINE_LOAD ompp_memory_load_7   /* ompp_count_find_load() */
#define OMPP_INLINE_STORE ompp_memory_store_7 /* ompp_count_find_store() */
/* For code that gives all registers but two: ompp_found_hot.c. */
#define OMPP_INLINE_AT_LOAD ompp_memory_at_load_7
#define OMPP_INLINE_AT_STORE ompp_memory_at_store_7
#define OMPP_INLINE_TURN_LOAD ompp_memory_turn_load_7
#define OMPP_INLINE_TURN_STORE ompp_memory_turn_store_7
/* The same of accesses to one local variable of the function: what stands before where rdx leads ends with the distance
 * from there to the variable's cell. */
#define OMPP_INLINE_LOCAL_LOAD ompp_memory_local_load_7
#define OMPP_INLINE_LOCAL_STORE ompp_memory_local_store_7
#define OMPP_INLINE_TURN_LOCAL_LOAD ompp_memory_turn_local_load_7
#define OMPP_INLINE_TURN_LOCAL_STORE ompp_memory_turn_local_store_7
/* The same as AT of accesses through one pointer, which stays in one variable; the result has BASE_STACK where it is
 * good for all accesses to the variable on pages whose entries, xored with the tag, are the same. */
#define OMPP_INLINE_BASE_LOAD ompp_memory_base_load_7
#define OMPP_INLINE_BASE_STORE ompp_memory_base_store_7
#define OMPP_INLINE_BASE_STACK 63 /* bit: the address is in a stack, the thread's own or not */
#define OMPP_INLINE_RUN ompp_memory_run_7

/* Offsets in the counter, in bytes. */
#define OMPP_INLINE_TAG 0
#define OMPP_INLINE_MOST 4 /* turns of a loop whose accesses may be held back */
#define OMPP_INLINE_PAGES 8
#define OMPP_INLINE_MASK 16
#define OMPP_INLINE_WIDTHS 144 /* -(bytes), which gcc's code counts in a register at once, by what TURN has said */
#define OMPP_INLINE_FEED 112
#define OMPP_INLINE_EDGES 128 /* tables of pages that several structures share */
/* ~0: cells of local variables, 4 bytes, have how far the variable's count is from COUNT, 0 = not known yet; or 0 */
#define OMPP_INLINE_LOCALS 136
#define OMPP_INLINE_CELLS 124 /* the same of accesses to pages whose entry, xored with the tag, is STACK */
#define OMPP_INLINE_EPOCH 120 /* 4 bytes, never 0: what BASE_STACK tells of is good while they are the same */
#define OMPP_INLINE_COUNT 256 /* of structure 0; of structure n: n << OMPP_INLINE_COUNT_BITS further */
#define OMPP_INLINE_COUNT_BITS 7
#define OMPP_INLINE_FOREIGN 112 /* from a structure's count to the accesses to others' pages; 8 from loads to stores */
#define OMPP_INLINE_FOREIGN_BIT 63 /* of a count's address, where it is kept: add to those, too */
/* What TURN's result is good for, its low bits: the access alone; the page; this address; 16 bytes; and twice as many
 * each, up to 256. */
#define OMPP_INLINE_FOR 7
#define OMPP_INLINE_FOR_ACCESS 0
#define OMPP_INLINE_FOR_PAGE 1
#define OMPP_INLINE_FOR_ADDRESS 2
#define OMPP_INLINE_FOR_GRAIN 3
#define OMPP_INLINE_KIND 40 /* from loads to stores of a structure; 8 from size to size */

/* The map. */
#define OMPP_INLINE_PAGE_BITS 9
/* less: the page is this thread's and one structure's, whose counts are so far from COUNT */
#define OMPP_INLINE_LEADS 0x20000
/* Of what is not, by so much less than this and not less than LEADS: it is the number of the page's table, which has 4
 * bytes for each 16. They are the number of the structure there, when not above NEAR; else a function knows. */
#define OMPP_INLINE_FAR 0x1ffff
#define OMPP_INLINE_STACK 0x3ffff /* LEADS and FAR: the thread's own, and of its stack, if any is */
#define OMPP_INLINE_TABLE_BITS 7
#define OMPP_INLINE_NEAR 1023

#endif
