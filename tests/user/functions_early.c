/* Functions that run before any library is initialised, ours included: what they leave is no less right than what comes later. */
#include <stdio.h>

static int total;

void inner(int n)
{
    total += n;
}

void early(int argc, char **argv, char **envp)
{
    (void)argc, (void)argv, (void)envp;
    for (int i = 0; i < 3; i++) inner(i);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **, char **) = early;

void late(void)
{
    for (int i = 0; i < 4; i++) inner(i);
}

int main(void)
{
    late();
    printf("%d\n", total);
    return 0;
}
