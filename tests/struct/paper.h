// Vectors whose sums and products are computed in one loop, which stands here: expression templates.
#ifndef OMPP_TEST_PAPER_H
#define OMPP_TEST_PAPER_H

#include <cstddef>
#include <vector>

namespace field {

template <class Left, class Right> struct Sum {
    const Left &left;
    const Right &right;
    double operator[](std::size_t i) const { return left[i] + right[i]; }
};

template <class Right> struct Scaled {
    double factor;
    const Right &right;
    double operator[](std::size_t i) const { return factor * right[i]; }
};

class Vector {
    std::vector<double> values;

public:
    explicit Vector(std::size_t n) : values(n, 1.5) {}
    double operator[](std::size_t i) const { return values[i]; }
    std::size_t size() const { return values.size(); }
    const std::vector<double> &all() const { return values; }
    std::vector<double> &all() { return values; }

    template <class Expression> Vector &operator=(const Expression &e)
    {
        for (std::size_t i = 0; i < values.size(); i++) // @assign
            values[i] = e[i];
        return *this;
    }
};

template <class L, class R> Sum<L, R> operator+(const L &l, const R &r) { return {l, r}; }
template <class R> Scaled<R> operator*(double f, const R &r) { return {f, r}; }

} // namespace field

#endif
