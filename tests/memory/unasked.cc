// Containers, members and objects: who owns a block names it.
#include <cstdio>
#include <vector>

struct Mesh {
    std::vector<double> nodes, cells;
    int *faces;
    explicit Mesh(int n) : nodes(n), cells(2 * n), faces(new int[n]) {}
    ~Mesh() { delete[] faces; }
};

// An array of these has their number in front of them.
struct Domain {
    double *planes;
    int *users;
    Domain() : planes(nullptr), users(new int(1)) {}
    ~Domain() { delete[] planes, delete users; }
};

Mesh *mesh;
Domain *domains;

__attribute__((noinline)) static void fill(volatile double *to, int n)
{
    for (int i = 0; i < n; i++) to[i] = i;
}

__attribute__((noinline)) static double work()
{
    std::vector<double> mine(500);

    fill(mine.data(), 500);
    return mine[3];
}

int main()
{
    mesh = new Mesh(400);
    fill(mesh->nodes.data(), 400);
    fill(mesh->cells.data(), 800);
    for (int i = 0; i < 400; i++) ((volatile int *)mesh->faces)[i] = i;
    std::printf("%g\n", work());
    domains = new Domain[2];
    for (int i = 0; i < 2; i++) {
        domains[i].planes = new double[150];
        fill(domains[i].planes, 150);
    }
    delete[] domains;
    delete mesh;
    return 0;
}
