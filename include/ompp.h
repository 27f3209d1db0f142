/**
 * \file
 * ompp's interface for programs. Link with `kinst-ompp`, or compile and link with `ompp-config --cflags --libs`.
 *
 * All functions may be called on any thread at any time; none fails. Without measurement they do nothing.
 */
#ifndef OMPP_H
#define OMPP_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * \brief A user region begins, and ends, on this thread. It appears as USER REGION ('name').
 *
 * Regions nest and may be entered recursively. Equal names are one region; its place is the first call that began it.
 * \param[in] name  copied; NULL is ignored.
 */
void ompp_region_begin(const char *name);
void ompp_region_end(const char *name);

/** \brief Starts measurement (optional: the first event does it). */
void POMP_Init(void);

/** \brief Measurement on, or off, for what is entered from now on, on all threads of this process. */
void POMP_On(void);
void POMP_Off(void);

/** \brief Writes a report of this process now; it is marked incremental. Measurement goes on. */
void OMPP_Dump(void);

#ifdef __cplusplus
}
#endif

#endif
