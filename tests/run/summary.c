/* Two threads sleep 300 and 100 ms in a region; before it one of them sleeps 100 ms. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    usleep(100000);
#pragma omp parallel num_threads(2)
    usleep(omp_get_thread_num() == 0 ? 300000 : 100000);
    printf("done\n");
    return 0;
}
