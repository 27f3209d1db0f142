// Loops in templates, over containers, in lambdas, and with exceptions; tags as in nests.c.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int opaque(int x);

template <class T> struct Matrix {
    std::vector<T> values;
    int n;
    explicit Matrix(int size) : values(size * size), n(size) {}
    T &operator()(int i, int j) { return values[i * n + j]; }
    T trace()
    {
        T sum = 0;
        for (int i = 0; i < n; i++) // @loop
            sum += (*this)(i, i);
        return sum;
    }
};

template <class T> void fill(Matrix<T> &m)
{
    for (int i = 0; i < m.n; i++) // @loop
        for (int j = 0; j < m.n; j++) // @loop
            m(i, j) = i * j + opaque(i);
}

template <class T, class F> T reduce(const std::vector<T> &x, F f)
{
    T r = 0;
    for (const T &v : x) // @loop
        r = f(r, v);
    return r;
}

static int guarded(const std::vector<std::string> &words)
{
    int n = 0;
    for (size_t i = 0; i < words.size(); i++) { // @loop
        try {
            if (words[i].empty()) throw std::runtime_error("empty");
            n += opaque(words[i][0]);
        } catch (const std::exception &e) {
            n -= opaque(e.what()[0]);
        }
    }
    return n;
}

static int total(const std::map<std::string, int> &counts)
{
    int n = 0;
    for (const auto &pair : counts) // @loop
        n += pair.second + opaque(pair.first[0]);
    return n;
}

static long backward(const std::vector<int> &x)
{
    long n = 0;
    for (auto it = x.rbegin(); it != x.rend(); ++it) // @loop
        n = n * 3 + *it;
    return n;
}

int main(int argc, char **)
{
    Matrix<double> m(argc + 20);
    Matrix<int> k(argc + 10);
    std::vector<int> x;
    std::vector<std::string> words;
    std::map<std::string, int> counts;
    fill(m);
    fill(k);
    for (int i = 0; i < 20 * argc; i++) { // @loop
        x.push_back(opaque(i));
        words.push_back(std::string(opaque(i), 'x'));
        counts[words.back()]++;
    }
    auto mix = [&](int a, int b) {
        int r = a;
        while (r < b) // @loop
            r += opaque(r) + 1;
        return r;
    };
    std::printf("%g %d %d\n", m.trace(), k.trace(), reduce(x, mix));
    std::printf("%d %d %ld %d\n", guarded(words), total(counts), backward(x),
                reduce(x, [](int a, int b) { return a ^ (b << 3); }));
    return 0;
}
