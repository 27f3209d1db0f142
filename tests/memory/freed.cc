// Memory that is given back while it is named, and other data in its place: new and delete, vectors, malloc and realloc, mappings;
// on several threads. Prints "+name loads stores".
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <ompp.h>
#include <sys/mman.h>

static void fill(volatile double *at, long n)
{
    for (long i = 0; i < n; i++) at[i] = (double)i;
}

static void expect(const char *name, long stores, long loads = 0)
{
    std::printf("+%s %ld %ld\n", name, loads, stores);
}

// The allocator gives the same block again, if it can; what is left over in front and behind the range belongs to nobody either.
template <class Get, class Put> static void again(const char *name, long n, Get get, Put put)
{
    for (int round = 0; round < 20; round++) {
        double *at = get(n);
        ompp_papi_set_drange(at + n / 4, n / 2 * sizeof *at, name);
        fill(at, n);
        put(at);
        at = get(n);
        fill(at, n);
        put(at);
    }
#pragma omp critical
    expect(name, 20 * (n / 2));
}

static void c_and_cxx(long n)
{
    again("malloc", n, [](long k) { return (double *)std::malloc(k * sizeof(double)); }, [](double *p) { std::free(p); });
    again("new", n, [](long k) { return new double[k]; }, [](double *p) { delete[] p; });
}

static void vectors()
{
    std::vector<double> v(100);
    ompp_papi_set_drange(v.data(), 100 * sizeof(double), "vector");
    fill(v.data(), 100);
    v.resize(1000); // elsewhere now
    std::vector<double> w(100);
    fill(w.data(), 100);
    fill(v.data(), 1000);
    expect("vector", 100, 1); // one block was read from the old place
}

// The range goes with its bytes.
static void grown()
{
    double *at = (double *)std::malloc(800), *keep = (double *)std::malloc(800);
    ompp_papi_set_drange(at, 800, "grown");
    fill(at, 100);
    at = (double *)std::realloc(at, 1 << 20);
    fill(at, 1 << 17);
    double *other = (double *)std::malloc(800);
    fill(other, 100);
    if (!std::realloc(at, (size_t)1 << 62)) fill(at, 100); // still there
    at = (double *)std::realloc(at, 400);
    fill(at, 50);
    std::free(at);
    std::free(keep);
    std::free(other);
    expect("grown", 100 + 100 + 100 + 50);
}

// More structures in one block than realloc takes along; and what is taken and given back there leaves errno alone.
static void many()
{
    const int n = 40;
    double *at = (double *)std::malloc(n * 64);
    errno = EDOM;
    for (int i = 0; i < n; i++) ompp_papi_set_drange(at + 8 * i, 64, "many");
    double *block = (double *)std::realloc(at, 1 << 20);
    fill(block, 8 * n);
    std::free(block);
    if (errno != EDOM) std::puts("errno is changed");
    expect("many", 8 * 32);
}

static void mapped()
{
    char *at = (char *)mmap(nullptr, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ompp_papi_set_drange(at, 4 * 4096, "mapped");
    fill((double *)at, 2048);
    munmap(at + 4096, 8192);
    mmap(at + 4096, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    fill((double *)at, 2048);
    munmap(at + 1, 4096); // refused
    fill((double *)at, 512);
    munmap(at, 4 * 4096);
    expect("mapped", 2048 + 1024 + 512);
}

static double *pages(int n, void *at = nullptr, int flags = 0)
{
    return (double *)mmap(at, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void refused(const char *call, bool is, int why)
{
    if (!is || errno != why) std::printf("%s is not refused as it should\n", call);
    errno = 0;
}

// Another mapping in the place of a part; what the system refuses changes nothing; a place that only is a wish is no other's.
static void replaced()
{
    double *at = pages(4);
    ompp_papi_set_drange(at, 4 * 4096, "replaced");
    pages(2, at + 512, MAP_FIXED);
    fill(at, 2048); // half of it
    refused("mmap", mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, -1, 0) == MAP_FAILED, EBADF);
    refused("mmap", mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED, EEXIST);
    double *other = pages(1, at);
    fill(other, 512);
    fill(at, 2048);
    munmap(other, 4096);
    munmap(at, 4 * 4096);
    expect("replaced", 2 * 1024);
}

// Grown, shrunk and moved to a fixed place that another structure had; the same pages twice.
static void remapped()
{
    double *at = pages(2), *there = pages(8);
    ompp_papi_set_drange(at + 256, 4096, "remapped");
    ompp_papi_set_drange(there + 512, 8, "covered");
    refused("mremap", mremap(at, 8192, 16384, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)there + 1) == MAP_FAILED, EINVAL);
    refused("mremap", mremap((char *)at + 1, 8192, 16384, MREMAP_MAYMOVE) == MAP_FAILED, EINVAL);
    fill(at, 1024);
    fill(there + 512, 1);
    if (mremap(at, 8192, 4 * 4096, MREMAP_MAYMOVE | MREMAP_FIXED, there) != there) std::puts("mremap has not moved");
    fill(there, 8 * 512);
    double *there_again = pages(2, at, MAP_FIXED_NOREPLACE);
    at = there_again != MAP_FAILED ? there_again : pages(2); // others now; the place may have been taken
    fill(at, 1024);
    there = (double *)mremap(there, 4 * 4096, 4096, 0); // its second half is left out
    fill(there, 512);
    there = (double *)mremap(there, 4096, 64 * 4096, MREMAP_MAYMOVE);
    fill(there, 512);
    munmap(there, 64 * 4096);
    munmap(at, 8192);
    expect("covered", 1);
    expect("remapped", 512 + 512 + 256 + 256);
    double *shared = (double *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ompp_papi_set_drange(shared, 4096, "shared");
    double *again = (double *)mremap(shared, 0, 4096, MREMAP_MAYMOVE);
    fill(shared, 512);
    fill(again, 512); // the same memory under another address
    munmap(shared, 4096);
    munmap(again, 4096);
    expect("shared", 512);
    if (errno) std::puts("errno is changed");
}

// Addresses that are only reserved, more than could be looked at one by one; and what the system refuses.
static void reserved()
{
    const size_t size = (size_t)1 << 42;
    void *at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) {
        ompp_papi_set_drange((char *)at + size / 2, 8, "reserved");
        munmap(at, size);
        char *again = (char *)mmap((char *)at + size / 2, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fill((double *)again, 1);
        munmap(again, 4096);
        expect("reserved", 0);
    }
    errno = 0;
    if (munmap((char *)4096, (size_t)1 << 62) != -1 || errno != EINVAL) std::puts("munmap of what is no address is not refused");
}

// Small blocks that share 16 bytes with what is around them, many.
static void nodes()
{
    const int n = 34000; // more than fit into 15 bits
    std::vector<double *> at(n);
    for (auto &p : at) ompp_papi_set_drange(p = (double *)std::malloc(24), 24, "nodes");
    for (auto &p : at) fill(p, 3);
    expect("nodes", 3 * n);
    for (int i = n; i-- > 0;) std::free(at[i]);
}

int main()
{
#pragma omp parallel num_threads(4)
    {
        c_and_cxx(8);
        c_and_cxx(1000);
        c_and_cxx(100000);
    }
    std::unique_ptr<double[]> p(new double[64]);
    ompp_papi_set_drange(p.get(), 64 * sizeof(double), "unique");
    fill(p.get(), 64);
    p.reset();
    p.reset(new double[64]);
    fill(p.get(), 64);
    expect("unique", 64);
    vectors();
    grown();
    many();
    mapped();
    replaced();
    remapped();
    reserved();
    nodes();
    return 0;
}
