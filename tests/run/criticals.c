/* Critical sections of three locks, for a program without debug information. */
static volatile double x, y, z;

static void work(int n)
{
    for (volatile int i = 0; i < n; i++) continue;
}

int main(void)
{
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 300; i++) {
#pragma omp critical(first)
        {
            x = x + 1;
            work(60000);
        }
#pragma omp critical(second)
        {
            y = y + 1;
            work(20000);
        }
#pragma omp critical
        {
            z = z + 1;
        }
#pragma omp critical
        {
            z = z + 2;
        }
    }
    return x + y + z > 0 ? 0 : 1;
}
