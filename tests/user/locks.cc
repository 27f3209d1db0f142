// Locks in C++: static members, members of objects in a namespace. See locks.py.
#include "locks.h"

#include <cstdio>

static void use(omp_lock_t *lock, int times)
{
    omp_init_lock(lock);
    for (int i = 0; i < times; i++) {
        omp_set_lock(lock);
        omp_unset_lock(lock);
    }
}

omp_lock_t global; /* @global */

namespace geo {

class Guard {
public:
    virtual ~Guard() {}
    omp_lock_t *lock()
    {
        return &lock_;
    }

private:
    double x_;
    omp_lock_t lock_;
};

struct Map {
    static omp_lock_t lock;
};

omp_lock_t Map::lock;
static Guard guard; /* @geo::guard.lock_ */

} // namespace geo

int main()
{
    omp_lock_t stack, *heap = new omp_lock_t;

    use(&global, 1);
    use(&geo::Map::lock, 2);
    use(geo::guard.lock(), 3);
    use(library_lock(), 6);
    use(heap, 7);
    use(&stack, 8);
#pragma omp parallel
    {
        omp_set_lock(&global);
        omp_unset_lock(&global);
    }
    std::puts("0");
    delete heap;
}
