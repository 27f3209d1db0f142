/* Calls of one function on one line, by way of several others: operator[] of vectors. Rows of the line table go on over them. */
#include <vector>
struct grid {
    std::vector<double> a, b, c;
    double &x(int i) { return a[i]; }
    double &y(int i) { return b[i]; }
    double &z(int i) { return c[i]; }
};
void gather(grid &g, const int *at, int n, double *x, double *y, double *z)
{
    for (int i = 0; i < n; i++) {
        x[i] = g.x(at[i]);
        y[i] = g.y(at[i]);
        z[i] = g.z(at[i]);
    }
}
double sum(grid &g, const int *at, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += g.x(at[i]) * g.y(at[i]) - g.z(at[i]);
    return s;
}
int main(int n, char **)
{
    grid g;
    double x[9], y[9], z[9];
    int at[9] = {0};
    gather(g, at, n, x, y, z);
    return sum(g, at, n) > 0;
}
