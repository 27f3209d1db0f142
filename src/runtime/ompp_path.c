#include "runtime/ompp_path.h"

void ompp_path_sample(const void *context, uint64_t ns)
{
    (void)context;
    (void)ns;
}
