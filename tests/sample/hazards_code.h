/* Cases of hazards.c: stacks and code of the program's own, handlers that do not return, libraries that come late. */
#include <dlfcn.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { COROUTINE = 16384, ALTERNATE = 8192 };
static ucontext_t center, ring[8];

static void coroutine(int number)
{
    for (int i = 0; i < 40; i++) {
        spin(0.001);
        swapcontext(&ring[number], &center);
    }
}

static bool is_whole(const char *memory, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (memory[i] != 0x5a) return false;
    return true;
}

static char *stack_with_borders(size_t size)
{
    char *memory = malloc(size + 8192);

    memset(memory, 0x5a, size + 8192);
    return memory + 4096;
}

static void on_alternate(int s)
{
    came[s]++;
    spin(0.05);
}

static void stacks(void)
{
    char *stack[8], *alternate = stack_with_borders(ALTERNATE);
    bool whole = true;

    for (int i = 0; i < 8; i++) {
        stack[i] = stack_with_borders(COROUTINE);
        getcontext(&ring[i]);
        ring[i].uc_stack.ss_sp = stack[i];
        ring[i].uc_stack.ss_size = COROUTINE;
        ring[i].uc_link = &center;
        makecontext(&ring[i], (void (*)(void))coroutine, 1, i);
    }
    for (int round = 0; round < 41; round++)
        for (int i = 0; i < 8; i++) swapcontext(&center, &ring[i]);
    const stack_t other = {.ss_sp = alternate, .ss_size = ALTERNATE};
    sigaltstack(&other, NULL);
    struct sigaction action = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 5; i++) raise(SIGUSR1);
    spin(0.2);
    for (int i = 0; i < 8; i++)
        whole = whole && is_whole(stack[i] - 4096, 4096) && is_whole(stack[i] + COROUTINE, 4096);
    whole = whole && is_whole(alternate - 4096, 4096) && is_whole(alternate + ALTERNATE, 4096);
    printf("handled %d, borders %s\n", came[SIGUSR1], whole ? "whole" : "torn");
}

static sigjmp_buf place;
static volatile unsigned jumped;
static void leave(int s)
{
    if (jumped < 1000) siglongjmp(place, s); /* an alarm may come between the last jump and the end of the timer */
}

/* Handlers that do not return. */
static void jumps(void)
{
    const struct itimerval each = {{0, 300}, {0, 300}}, none = {{0, 0}, {0, 0}};

    signal(SIGALRM, leave);
    sigsetjmp(place, 1);
    setitimer(ITIMER_REAL, &each, NULL);
    while (jumped < 1000) {
        if (sigsetjmp(place, 1)) jumped++;
        else spin(1);
    }
    setitimer(ITIMER_REAL, &none, NULL);
    spin(0.2);
    printf("jumped %u\n", jumped);
}

static void code(void)
{
    /* mov %edi,%eax; 1: dec %rdi; jnz 1b; ret */
    static const unsigned char loop[] = {0x89, 0xf8, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
    unsigned long sum = 0;

    for (int i = 0; i < 300; i++) {
        unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(page, loop, sizeof loop);
        sum += (unsigned)((int (*)(long))(void *)page)(1000000);
        munmap(page, 4096);
    }
    printf("sum %lu\n", sum);
}

static void modules(void)
{
    unsigned long sum = 0;

    for (int i = 0; i < 300; i++) {
        void *library = dlopen(file, RTLD_NOW);
        unsigned long (*work)(unsigned long) =
            library ? (unsigned long (*)(unsigned long))dlsym(library, "work") : NULL;
        if (!work) abort();
        sum += work(300000);
        dlclose(library);
    }
    printf("sum %lu\n", sum);
}

/* A library that comes late, of those whose calls are left alone else, has a handler. */
static void library(void)
{
    void *handle = dlopen(file, RTLD_NOW);
    void (*use)(void (*)(int)) = handle ? (void (*)(void (*)(int)))dlsym(handle, "use") : NULL;
    if (!use) abort();
    spin(0.1);
    use(count);
    spin(0.3);
    printf("came %d\n", came[SIGPROF]);
}
