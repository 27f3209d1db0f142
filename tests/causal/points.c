/* Progress points by coz.h and by ompp.h; C and C++. 30 rounds of 2 ms with a unit under way for half of each. */
#if defined(HAVE_COZ)
#include <coz.h>
#else
#include "coz_like.h"
#endif
#include "work.h"

int main(int argc, char **argv)
{
    run.rounds = 30;
    read_options(argc, argv);
    begin_run();
    for (int i = 0; i < run.rounds; i++) {
        COZ_BEGIN("coz unit");
        OMPP_BEGIN("unit");
        region("a", 1);
        OMPP_END("unit");
        COZ_END("coz unit");
        region("b", 1);
        COZ_PROGRESS_NAMED("coz step");
        OMPP_PROGRESS("step");
        if (i % 3 == 0) OMPP_PROGRESS("third");
    }
    OMPP_BEGIN("unit"); /* never ends */
    OMPP_PROGRESS(NULL);
    end_run();
    return 0;
}
