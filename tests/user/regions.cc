// The scope of ompp.h under exceptions, and regions that templates name. See regions.py.
#include "ompp.h"

#include <cstdio>
#include <string>

static int passes(int i)
{
    /* @thrown */
    OMPP_REGION("thrown");
    {
        OMPP_REGION("inner");
        if (i % 2)
            throw i;
    }
    return i;
}

template <int N> static int instance()
{
    const std::string name = "instance " + std::to_string(N);
    OMPP_REGION(name.c_str());
    return N;
}

int main()
{
    int sum = instance<1>() + instance<2>() + instance<2>();

    for (int i = 0; i < 6; i++)
        try {
            /* @tried */
            OMPP_REGION("tried");
            sum += passes(i);
        } catch (int thrown) {
            OMPP_REGION("caught");
            sum += 10 * thrown;
        }
    /* By hand, an exception goes past the end: the one around it ends it. */
    ompp_region_begin("outer");
    try {
        ompp_region_begin("lost");
        throw 1;
    } catch (int) {
    }
    ompp_region_end("outer");
    std::printf("%d\n", sum);
}
