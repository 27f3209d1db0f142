/**
 * \file
 * What code that marks user regions calls (`#pragma pomp inst begin(name)`). Part of ompp; the names are the interface
 * of OPARI2.
 *
 * Includes nothing of the system: it stands before the user's first line, whose feature-test macros must keep working.
 */
#ifndef OMPP_POMP2_USER_LIB_H
#define OMPP_POMP2_USER_LIB_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

/* The files that OPARI2 writes use NULL; asked for in this way stddef.h defines nothing else. */
#define __need_NULL
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A slot in the user's object file: empty until the region is first met. */
#ifndef __opari2_region_handle
typedef void *OPARI2_Region_handle;
#define __opari2_region_handle
#endif
typedef OPARI2_Region_handle POMP2_USER_Region_handle;

/* #pragma omp inst data(address, size, name) */
extern void ompp_pragma_data(void *address, __SIZE_TYPE__ size, const char *name);
extern void POMP2_Init(void);
extern void POMP2_Finalize(void);
extern void POMP2_Off(void);
extern void POMP2_On(void);
extern void POMP2_Begin(POMP2_USER_Region_handle *handle, const char ctc[]);
extern void POMP2_End(POMP2_USER_Region_handle *handle);
extern void POMP2_USER_Assign_handle(POMP2_USER_Region_handle *handle, const char ctc[]);

#ifdef __cplusplus
}
#endif

#endif
