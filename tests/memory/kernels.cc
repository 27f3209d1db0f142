// Access patterns of C++ with known numbers of loads and stores: N times each, on a structure of its own that has the pattern's name.
// What each has to count stands in kernels.py.
#include <ompp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#define N 1000
#define KERNEL __attribute__((noinline)) static void

static double sink;
static int one = 1;

// ---- References, lambdas, templates ------------------------------------------------------------------------------------

double referred[N], captured[N], ranged[N], functors[N], summed[N], called[N];

KERNEL do_references()
{
    for (int i = 0; i < N; i++) {
        double &r = referred[i];
        r += i;
    }
}

KERNEL do_lambdas(double *a)
{
    auto add = [a](int i) { a[i] += i; };
    for (int i = 0; i < N; i++) add(i);
}

KERNEL do_ranges()
{
    for (double &x : ranged) x = one;
}

template <class F> __attribute__((noinline)) static void each(double *begin, double *end, F f)
{
    for (; begin != end; ++begin) *begin = f(*begin);
}

KERNEL do_functors()
{
    each(functors, functors + N, [](double x) { return x + 1; });
}

KERNEL do_algorithms()
{
    sink += std::accumulate(summed, summed + N, 0.0);
}

KERNEL do_function(const std::function<void(int)> &f)
{
    for (int i = 0; i < N; i++) f(i);
}

// ---- Containers --------------------------------------------------------------------------------------------------------

std::array<double, N> array_read, array_write;
std::complex<double> complexes[N];
std::pair<int, double> pairs[N];
bool flags[N];

KERNEL do_arrays()
{
    for (size_t i = 0; i < N; i++) sink += array_read[i];
    for (size_t i = 0; i < N; i++) array_write[i] = (double)i;
}

KERNEL do_vector(std::vector<double> &v)
{
    for (size_t i = 0; i < v.size(); i++) v[i] += 1;
}

KERNEL do_iterators(std::vector<double> &v)
{
    for (auto p = v.begin(); p != v.end(); ++p) *p = one;
}

std::array<double, N> copied_source, copied_target, filled;
std::array<char, N> filled_bytes;

KERNEL do_copies_of_arrays()
{
    std::copy(copied_source.begin(), copied_source.end(), copied_target.begin());
    std::fill(filled.begin(), filled.end(), one);
    std::fill(filled_bytes.begin(), filled_bytes.end(), (char)one);
}

// Members of std::string are in the C++ library: what they do is not seen.
KERNEL do_strings(std::string &s, std::string &replaced)
{
    for (int i = 0; i < N; i++) s[i] = 'a';
    replaced.replace(0, N / 2, N / 2, 'b');
}

KERNEL do_complexes()
{
    double sum = 0;
    for (auto &c : complexes) sum += c.real() + c.imag();
    sink += sum;
}

KERNEL do_pairs()
{
    for (auto &[first, second] : pairs) sink += first + second;
}

// ---- Classes -----------------------------------------------------------------------------------------------------------

struct shape {
    double x = 1;
    virtual double area() const { return x; }
    virtual ~shape() {}
};
struct square : shape {
    double area() const override { return x * 2; }
};
struct counted {
    long n = 0;
    __attribute__((noinline)) void up() { n++; }
};
struct left : virtual shape {};
struct block8 {
    double x[8];
};

counted members;
block8 copied_from[N], copied_to[N], moved_from, moved_to;

KERNEL do_virtual(shape **all)
{
    for (int i = 0; i < N; i++) sink += all[i]->area();
}

KERNEL do_members()
{
    for (int i = 0; i < N; i++) members.up();
}

KERNEL do_virtual_base(left *l)
{
    for (int i = 0; i < N; i++) sink += l[i].x;
}

__attribute__((noinline)) static void copy(block8 &to, const block8 &from)
{
    to = from;
}

KERNEL do_copies()
{
    for (int i = 0; i < N; i++) copy(copied_to[i], copied_from[i]);
    for (int i = 0; i < N; i++) copy(moved_to = moved_from, copied_from[0]);
}

// ---- Memory ------------------------------------------------------------------------------------------------------------

KERNEL do_new()
{
    for (int i = 0; i < 10; i++) {
        double *a = new double[100];
        ompp_papi_set_drange(a, 100 * sizeof *a, "created");
        for (int k = 0; k < 100; k++) a[k] = k;
        sink += a[one];
        delete[] a;
    }
    square *s = new square[N];
    ompp_papi_set_drange(s, N * sizeof *s, "objects");
    shape *all[N];
    for (int i = 0; i < N; i++) all[i] = &s[i];
    do_virtual(all);
    left *l = new left[N];
    ompp_papi_set_drange(l, N * sizeof *l, "virtual_bases");
    do_virtual_base(l);
    ompp_release_drange(l); // destructors look up their class, or do not
    ompp_release_drange(s);
    delete[] l;
    delete[] s;
}

alignas(square) static char placed[N * sizeof(square)];

KERNEL do_placement()
{
    for (int i = 0; i < N; i++) {
        square *s = new (placed + i * sizeof(square)) square;
        s->x += i;
    }
}

KERNEL do_unique(std::unique_ptr<double[]> &p)
{
    for (int i = 0; i < N; i++) p[i] = i;
}

// ---- Exceptions --------------------------------------------------------------------------------------------------------

double thrown[N], caught[N];

__attribute__((noinline)) static void store_and_throw(int i)
{
    thrown[i] = i;
    if (i % 10 == 0) throw std::runtime_error("ten");
}

KERNEL do_exceptions()
{
    for (int i = 0; i < N; i++) {
        try {
            store_and_throw(i);
        } catch (const std::exception &) {
            caught[i] += 1;
        }
    }
}

// ---- Atomics -----------------------------------------------------------------------------------------------------------

std::atomic<long> atomic_add, atomic_load, atomic_store;
std::atomic<int> atomic_compare;
std::atomic<double> atomic_double;
std::atomic<bool> atomic_flag;

KERNEL do_atomics()
{
    for (int i = 0; i < N; i++) atomic_add++;
    for (int i = 0; i < N; i++) sink += (double)atomic_load.load(std::memory_order_acquire);
    for (int i = 0; i < N; i++) atomic_store.store(i, std::memory_order_release);
    for (int i = 0; i < N; i++) {
        int old = i;
        atomic_compare.compare_exchange_strong(old, i + 1);
    }
    for (int i = 0; i < N; i++) atomic_double.store(i);
    for (int i = 0; i < N; i++) sink += atomic_flag.exchange(true);
}

// ---- Others ------------------------------------------------------------------------------------------------------------

double swapped_a[N], swapped_b[N], tuple_data[N];
thread_local double per_thread[N];
enum class colour : unsigned char { red, green };
colour colours[N];

KERNEL do_swaps()
{
    for (int i = 0; i < N; i++) std::swap(swapped_a[i], swapped_b[i]);
}

KERNEL do_others()
{
    for (int i = 0; i < N; i++) per_thread[i] = i;
    for (int i = 0; i < N; i++) colours[i] = one ? colour::green : colour::red;
    for (int i = 0; i < N; i++) flags[i] = !flags[i];
}

__attribute__((noinline)) static int &counter_once()
{
    static int once = one;
    return once;
}

#define NAME(x) ompp_papi_set_drange(&x, sizeof x, #x)

int main()
{
    NAME(referred), NAME(captured), NAME(ranged), NAME(functors), NAME(summed), NAME(called), NAME(array_read), NAME(array_write);
    NAME(complexes), NAME(pairs), NAME(flags), NAME(members), NAME(copied_from), NAME(copied_to), NAME(moved_from), NAME(moved_to);
    NAME(placed), NAME(thrown), NAME(caught), NAME(atomic_add), NAME(atomic_load), NAME(atomic_store), NAME(atomic_compare);
    NAME(atomic_double), NAME(atomic_flag), NAME(swapped_a), NAME(swapped_b), NAME(per_thread), NAME(colours);
#pragma omp parallel num_threads(1)
    {
    }
    do_references(), do_lambdas(captured), do_ranges(), do_functors(), do_algorithms();
    do_function([](int i) { called[i] = i; });
    std::vector<double> indexed(N), iterated(N);
    ompp_papi_set_drange(indexed.data(), N * sizeof(double), "vector_indexed");
    ompp_papi_set_drange(iterated.data(), N * sizeof(double), "vector_iterated");
    do_arrays(), do_vector(indexed), do_iterators(iterated), do_complexes(), do_pairs();
    do_members(), do_copies(), do_new(), do_placement();
    std::unique_ptr<double[]> unique(new double[N]);
    ompp_papi_set_drange(unique.get(), N * sizeof(double), "unique");
    std::string indexed_text(N, ' '), replaced_text(N, ' ');
    ompp_papi_set_drange(&indexed_text[0], N, "string_indexed");
    ompp_papi_set_drange(&replaced_text[0], N, "string_replaced");
    do_strings(indexed_text, replaced_text);
    NAME(copied_source), NAME(copied_target), NAME(filled), NAME(filled_bytes);
    do_copies_of_arrays();
    do_unique(unique), do_exceptions(), do_atomics(), do_swaps(), do_others();
    int &once = counter_once();
    ompp_papi_set_drange(&once, sizeof once, "once");
    for (int i = 0; i < N; i++) counter_once()++;
    std::printf("%.6g %d\n", sink, counter_once());
    return 0;
}
