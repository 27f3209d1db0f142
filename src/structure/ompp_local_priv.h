/**
 * \file
 * Registers and frames of x86-64, as debug information tells of them. Private to src/structure.
 */
#ifndef OMPP_LOCAL_PRIV_H
#define OMPP_LOCAL_PRIV_H

/** DWARF's numbers of rax, rbp and rsp. */
enum { OMPP_LOCAL_RESULT = 0, OMPP_LOCAL_RBP = 6, OMPP_LOCAL_RSP = 7 };

/** Bytes from rbp to the canonical frame address, where a frame begins with it. */
#define OMPP_LOCAL_BELOW_RBP 16

#endif
