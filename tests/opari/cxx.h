// Templates and member functions with directives, for cxx.cpp.
#pragma once
#include <vector>

template <typename T> class Array {
public:
    explicit Array(std::size_t n) : data(n) {}
    void fill(T value)
    {
#pragma omp parallel for
        for (std::size_t i = 0; i < data.size(); i++) data[i] = value;
    }
    T sum() const
    {
        T total{};
#pragma omp parallel for reduction(+ : total)
        for (auto const &x : data) total += x;
        return total;
    }

private:
    std::vector<T> data;
};
