/**
 * \file
 * What src/lib joins of the OPARI2 bridge. The POMP2_* functions themselves are declared in include/opari2/pomp2_lib.h.
 *
 * One OpenMP source per process: every object that kinst-ompp instruments with OPARI2 defines the symbol
 * `ompp_opari_linked` (weak, default visibility). libompp.so refers to it weakly, so the linker exports it from the
 * program by itself; another source asks dlsym(RTLD_DEFAULT, "ompp_opari_linked") and declines when it is there.
 */
#ifndef OMPP_POMP2_H
#define OMPP_POMP2_H

#include <stdbool.h>

/** \return true when the program, or a library it was started with, holds code instrumented by OPARI2. */
bool ompp_pomp2_linked(void);

#endif
