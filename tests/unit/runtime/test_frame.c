/* Frames of one thread: which phase of which call path gets the time, also when events are missing or out of order. */
#include "core_tools.h"

#include <stdlib.h>
#include <string.h>

static void disable_critical(void) { setenv("OMPP_DISABLE_CRITICAL", "1", 1); }

/* Of 300 nested regions the core opens 255, and counts the others below the last of them. */
static void nest_deeply(void)
{
    for (unsigned i = 0; i < 300; i++) core_play("%u enter %c", 1000 + i, 'a' + i % 2);
    for (unsigned i = 300; i-- > 0;) core_play("%u exit %c", 3000 - i, 'a' + i % 2);
    core_play("4000 enter b, 4001 exit b, 5000 collect");
    assert_non_null(strstr(core_written(), "a/b/a 23 (1492 0 0 23)"));
    assert_non_null(strstr(core_written(), "a/b/a/b 23 (0 0 0 23)"));
    assert_non_null(strstr(core_written(), "\n0 b 1 (1 0 0 1)\nloss nested too deeply: counted, and their time is that "
                                           "of what is around them 45"));
}

/* The first call from a place takes the slow path, the others the fast one, which reads the counter: it stands at 0. */
static void call_mpi(void)
{
    static const char name[] = "MPI_Send", counted[] = "MPI_Comm_rank";

    core_play("0 enter a");
    ompp_clock.use_tsc = true;
    ompp_clock.scale = 0;
    for (unsigned i = 1; i <= 4; i++) {
        ompp_event_return_counted(ompp_event_call(&name, name), OMPP_METRIC_SENDS, 0, 1000, 30 + i);
        ompp_event_count_call(OMPP_CONSTRUCT_MPI, &counted, counted);
    }
    ompp_clock.use_tsc = false;
}

static const core_case_t cases[] = {
    {.name = "nested regions",
     .events = "10 enter a, 20 enter b, 30 enter c, 41 exit c, 50 exit b, 60 enter b, 67 exit b, 100 exit a, "
               "200 enter c, 205 exit c, 300 collect",
     .expected = "0 a 1 (90 37 0 1)  0 a/b 2 (37 11 0 2)  0 a/b/c 1 (11 0 0 1)  0 c 1 (5 0 0 1)"},
    {.name = "phases, and the one in which a child is",
     .events = "10 enter critical, 25 phase critical body, 30 enter a, 33 phase critical exit, 37 exit a, "
               "45 phase critical exit, 46 enter a, 48 exit a, 50 exit critical, 100 collect",
     .expected = "0 critical 1 (15 0 0 1) (20 7 0 1) (5 2 0 1)  0 critical/a 2 (9 0 0 2)"},
    {.name = "a phase that the construct does not have",
     .events = "10 enter critical, 25 phase critical startup, 40 phase critical exit, 50 exit critical, 100 collect",
     .expected = "0 critical 1 (30 0 0 1) () (10 0 0 1)"},
    {.name = "time that goes back",
     .events = "50 enter a, 60 enter critical, 55 phase critical body, 58 exit critical, 70 exit a, 100 collect",
     .expected = "0 a 1 (20 0 0 1)  0 a/critical 1 (0 0 0 1) (0 0 0 1) ()"},
    {.name = "exit of a region that is not on top",
     .events = "10 enter a, 20 enter b, 30 enter c, 31 enter c, 50 exit a, 60 enter b, 65 exit b, 100 collect",
     .expected = "0 a 1 (40 30 0 1)  0 a/b 1 (30 20 0 1)  0 a/b/c 2 (20 0 0 1)  0 b 1 (5 0 0 1)  mismatch b 3"},
    {.name = "exit of a region that is not open",
     .events = "10 exit b, 20 enter a, 30 exit b, 40 exit a, 50 exit a, 100 collect",
     .expected = "0 a 1 (20 0 0 1)  mismatch b 3"},
    {.name = "recursion, of the innermost region and through another one",
     .events = "10 enter a, 20 enter a, 30 enter a, 32 enter b, 34 enter a, 36 exit a, 38 exit b, 40 exit a, "
               "50 exit a, 60 enter b, 61 exit b, 80 exit a, 100 collect",
     .expected = "0 a 3 (70 7 0 1)  0 a/b 2 (7 2 0 2)  0 a/b/a 1 (2 0 0 1)"},
    {.name = "open when it is collected, and later",
     .events = "10 enter a, 15 enter a, 20 enter critical, 28 phase critical body, 30 collect, 40 exit critical, "
               "50 collect",
     .expected = "0 a 2 (20 10 0 1)  0 a/critical 1 (8 0 0 1) (2 0 0 1) ()  0 a 2 (40 20 0 1)  "
                 "0 a/critical 1 (8 0 0 1) (12 0 0 1) ()"},
    {.name = "switched off while a region is open: that one goes on",
     .events = "10 enter a, 12 enter critical, 20 off, 21 phase critical body, 40 exit critical, 50 exit a, 51 off, "
               "55 enter a, 56 ask, 57 on, 58 exit a, 100 collect",
     .expected = "team T0, barrier none, user region skipped, in no task:  0 a 1 (40 28 0 1)  "
                 "0 a/critical 1 (9 0 0 1) (19 0 0 1) ()  paused 1"},
    {.name = "switched on while a skipped region is open: nothing in it is measured",
     .events = "10 enter a, 20 off, 22 enter b, 23 count b, 24 enter a, 25 on, 26 enter b, 26 count b, 27 exit b, "
               "29 exit a, 30 exit b, 31 enter b, 35 exit b, 40 exit a, 100 collect",
     .expected = "0 a 1 (30 4 0 1)  0 a/b 1 (4 0 0 1)  paused 1"},
    {.name = "disabled construct",
     .events = "10 enter critical, 20 phase critical body, 30 enter a, 31 exit a, 40 exit critical, "
               "41 release critical, 42 count critical, 100 collect",
     .expected = "0 a 1 (1 0 0 1)  disabled OMPP_DISABLE_CRITICAL 1",
     .run = disable_critical},
    {.name = "nested too deeply", .run = nest_deeply},
    {.name = "exit barrier, or none, or of nothing",
     .events = "5 barrier begin, 6 barrier end, 10 enter loop, 30 ended loop, 31 ask, 32 barrier begin, 33 ask, "
               "40 barrier end, 41 ask, 60 enter loop, 67 ended loop, 90 enter a, 91 barrier begin, 95 exit a, "
               "100 enter loop, 103 ended loop, 200 collect",
     .expected = "team T0, barrier awaited, user region none, in no task:  "
                 "team T0, barrier begun, user region none, in no task:  "
                 "team T0, barrier none, user region none, in no task:  0 loop 3 (30 0 0 3) (10 0 0 1)  "
                 "0 a 1 (5 0 0 1)"},
    {.name = "released out of order",
     .events = "10 enter a, 20 enter b, 30 enter c, 60 release b, 80 release c, 100 exit a, 200 collect",
     .expected = "0 a 1 (90 60 0 1)  0 a/b 1 (40 30 0 1)  0 a/b/c 1 (50 0 0 1)"},
    {.name = "released in a region that is skipped",
     .events = "10 enter a, 20 off, 22 enter b, 25 release a, 30 exit b, 40 on, 50 enter c, 55 exit c, 100 collect",
     .expected = "0 a 1 (15 0 0 1)  0 c 1 (5 0 0 1)  paused 1"},
    {.name = "cancelled: what is above the region is closed, and that is no mismatch",
     .events = "10 enter a, 20 enter b, 30 enter c, 40 unwind a, 42 unwind c, 50 exit a, 100 collect",
     .expected = "0 a 1 (40 20 0 1)  0 a/b 1 (20 10 0 1)  0 a/b/c 1 (10 0 0 1)"},
    {.name = "functions that are left by a jump",
     .events = "10 function fn1 900, 20 function fn2 800, 30 function fn2 850, 40 return fn2 850, "
               "50 function fn2 800, 55 enter a, 60 caught 900, 70 function fn2 800, 80 return fn1 900, 100 collect",
     .expected = "0 fn1 1 (70 40 0 1)  0 fn1/fn2 4 (40 5 0 4)  0 fn1/fn2/a 1 (5 0 0 1)  left 1"},
    {.name = "counted calls, and values of a region",
     .events = "10 count mpi, 20 enter a, 22 count mpi, 23 count mpi, 24 add 5, 25 add 3, 30 exit a, 100 collect",
     .expected = "0 mpi 1 ()  0 a 1 (10 0 0 1) [8 0 0 0 0]  0 a/mpi 2 ()"},
    {.name = "calls of MPI",
     .events = "200 exit a, 300 collect",
     .expected = "0 a 1 (200 130 0 1)  0 a/MPI_Send 4 (130 0 0 4) [0 4000 0 4 0]  0 a/MPI_Comm_rank 4 ()",
     .run = call_mpi},
};

CORE_MAIN(cases)
