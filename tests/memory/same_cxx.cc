// C++ that hooks must not disturb: exceptions through frames, tasks and threads, destructors, virtual bases. Prints results.
#include <atomic>
#include <cstdio>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> alive;
static thread_local std::string per_thread = "new";

struct guard {
    int id;
    std::vector<int> values;
    explicit guard(int i) : id(i), values(10, i) { alive++; }
    guard(const guard &o) : id(o.id), values(o.values) { alive++; }
    ~guard() { alive--; }
};

struct top {
    virtual ~top() {}
    virtual int kind() const = 0;
    int base = 5;
};
struct left : virtual top {
    int kind() const override { return 1 + base; }
};
struct right : virtual top {
    int r = 7;
};
struct bottom : left, right {
    int kind() const override { return left::kind() * r; }
};

struct fails {
    guard inner{3};
    fails() { throw std::logic_error("constructor"); }
};

static int deep(int n)
{
    guard g(n);
    if (n == 0) throw std::out_of_range("deep " + std::to_string(g.values[3]));
    return deep(n - 1) + g.values[0];
}

static int nothrow(int n) noexcept
{
    try {
        return deep(n);
    } catch (const std::out_of_range &e) {
        return (int)std::string(e.what()).size();
    }
}

static void rethrown()
{
    try {
        try {
            deep(5);
        } catch (...) {
            guard g(1);
            throw;
        }
    } catch (const std::exception &e) {
        std::printf("rethrown %s %d\n", e.what(), alive.load());
    }
}

int main()
{
    long sum = 0;
    int caught = 0;

    rethrown();
    try {
        fails f;
    } catch (const std::logic_error &e) {
        std::printf("%s %d\n", e.what(), alive.load());
    }
#pragma omp parallel for reduction(+ : sum, caught)
    for (int i = 0; i < 200; i++) {
        try {
            sum += deep(i % 10 + 1);
        } catch (const std::out_of_range &) {
            caught++;
        }
    }
    std::vector<int> results(50);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp task shared(results) firstprivate(i)
        results[i] = nothrow(i);
    }
    for (int r : results) sum += r;
    auto later = std::async(std::launch::async, [] { return deep(4); });
    try {
        sum += later.get();
    } catch (const std::out_of_range &e) {
        std::printf("future %s\n", e.what());
    }
    std::thread other([&] { per_thread += " thread", sum += (long)per_thread.size(); });
    other.join();
    bottom b;
    top *t = &b;
    std::map<std::string, std::unique_ptr<guard>> map;
    for (int i = 0; i < 100; i++) map[std::to_string(i * i)] = std::make_unique<guard>(i);
    for (auto &[key, value] : map) sum += (long)key.size() * value->values[9];
    map.clear();
    std::printf("%ld %d %d %d %s %d\n", sum, caught, t->kind(), dynamic_cast<right *>(t)->r, per_thread.c_str(), alive.load());
    return alive;
}
