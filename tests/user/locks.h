#include <omp.h>

#ifdef __cplusplus
extern "C"
#endif
omp_lock_t *library_lock(void);
