// As falsely.c: who owns a block in C++.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

__attribute__((noinline)) static void touch(volatile double *at, long n, const char *names)
{
    const long rounds = std::strtol(std::getenv("TEST_ROUNDS"), nullptr, 10);

    for (long round = 0; round < rounds; round++)
        for (long i = 0; i < n; i++) at[i] = at[i] + 1;
    std::printf("%ld %s\n", 16 * rounds * n, names);
}

struct Field {
    std::vector<double> values;
    std::unique_ptr<double[]> ghost;
    double *raw;
    explicit Field(int n) : values(n), ghost(new double[n / 2]), raw(new double[n / 4]) {}
    Field(const Field &) = delete;
    ~Field() { delete[] raw; }
};

struct Particle {
    double x[20], v[20];
};

namespace geo
{
std::vector<double> area(450);
double bound[330];
}

static Field *pressure, *density;
static std::vector<Particle> particles;
static std::vector<std::vector<double>> table;
static double fixed[220];

__attribute__((noinline)) static void fields()
{
    pressure = new Field(400);
    density = new Field(600);
    touch(pressure->values.data(), 400, "pressure->values [heap|density->values [heap");
    touch(density->values.data(), 600, "pressure->values [heap|density->values [heap");
    touch(pressure->ghost.get(), 200, "pressure->ghost [heap|density->ghost [heap");
    touch(density->raw, 150, "pressure->raw [heap|density->raw [heap");
}

__attribute__((noinline)) static void containers()
{
    particles.resize(25);
    for (int i = 0; i < 12; i++) table.emplace_back(60);
    touch(geo::area.data(), 450, "geo::area [heap");
    touch(geo::bound, 330, "geo::bound");
    touch(fixed, 220, "fixed");
    for (auto &p : particles) touch(p.x, 20, "particles [heap");
    for (auto &row : table) touch(row.data(), 60, "table[*] [heap");
}

__attribute__((noinline)) static double local()
{
    std::vector<double> mine(500);
    std::vector<double> other(mine);
    double on_stack[130] = {0};

    touch(mine.data(), 500, "local::mine [heap");
    touch(other.data(), 500, "local::other [heap");
    touch(on_stack, 130, "local::on_stack [stack]");
    return mine[3] + other[2] + on_stack[1];
}

__attribute__((noinline)) static double thrown(int n)
{
    std::vector<double> inside(n);
    double sum = 0;

    try {
        std::unique_ptr<double[]> held(new double[n]());
        touch(held.get(), n, "thrown::held [heap");
        sum = held[1];
        throw 1;
    } catch (int) {
        touch(inside.data(), n, "thrown::inside [heap");
    }
    return sum + inside[0];
}

struct Reader {
    std::string filename;
    explicit Reader(const char *name) : filename(name) {}
    int read();
};

__attribute__((noinline)) int Reader::read() { return (int)filename.size(); }

struct Numbers {
    double *begin;
    explicit Numbers(long n) : begin(new double[n]()) {}
    ~Numbers() { delete[] begin; }
};

__attribute__((noinline)) void use(Numbers &numbers, long n)
{
    touch(numbers.begin, n, "=count::degrees.begin [heap");
}

static inline double count(long n)
{
    Numbers degrees(n);

    use(degrees, n);
    return degrees.begin[1];
}

/* The compiler gives the two variables of blocks, of which one is never made, the same place in the frame. */
__attribute__((noinline)) static double blocks(const char *name, long n)
{
    double sum = 0;

    if (name) {
        Reader reader(name);
        sum += reader.read();
    }
    return sum + count(n);
}

/* Has the address of another's block. */
struct Generator {
    std::vector<long> numbers;
    double *to;
    long n;
    Generator(double *values, long size) : numbers(size), to(values), n(size) {}
    void generate();
    void rescale(double *other, double by);
};

__attribute__((noinline)) void Generator::generate()
{
    for (long i = 0; i < n; i++) to[i] = (double)i;
}

__attribute__((noinline)) void Generator::rescale(double *other, double by)
{
    for (long i = 0; i < n / 2; i++) other[i] = by * to[n / 2 + i];
}

/* Containers that get their blocks late, most of them in registers only; and what comes behind them. */
__attribute__((noinline)) static double points(long n, bool up)
{
    std::vector<double> x, y, x_up, y_up;
    double sum = 0;

    x.resize(2 * n);
    y.resize(n);
    if (up) {
        x_up.resize(n);
        y_up.resize(n);
    }
    {
        Generator generator(x.data(), 2 * n);
        generator.generate();
        generator.rescale(y.data(), 0.5);
    }
    touch(x.data(), 2 * n, "points::x [heap");
    touch(y.data(), n, "points::y [heap");
    if (up) touch(x_up.data(), n, "points::x_up [heap");
    if (up) touch(y_up.data(), n, "points::y_up [heap");
    for (long i = 0; i < n; i++)
        for (long j = i + 1; j < n; j++) sum += (x[i] - x[j]) * (y[i] - y[j]);
    return sum;
}

int main(int argc, char **argv)
{
    fields();
    containers();
    points(190, argc > 1 || std::getenv("TEST_ROUNDS"));
    return local() + thrown(280) + blocks(argc > 1 ? argv[1] : nullptr, 390) < 0;
}
