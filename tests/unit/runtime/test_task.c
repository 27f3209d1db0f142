/*
 * Explicit tasks: their frames and times on the threads that run them, and the task time of the interrupted frame. In
 * brackets: [tasks begun, wait from creation to begin, longest wait] [tasks ended, run time, shortest, longest]. The
 * core keeps the time of creation in steps of 32 ns.
 */
#include "core_tools.h"

#include <string.h>

/* A team whose one or two members are in the region wait. */
#define TEAM1 "0 fork par T1, 0 begin T1 0, 0 enter wait, "
#define TEAM2 TEAM1 "0 W1 begin T1 1, 0 W1 enter wait, "

/* A task has room for 31 open regions, counts the others below the last of them, and closes them as it ends. */
static void nest_deeply(void)
{
    core_play(TEAM1 "0 create task A, 100 run A");
    for (unsigned i = 0; i < 40; i++) core_play("%u enter %c", 101 + i, 'a' + i % 2);
    core_play("150 over A, 160 enter a, 162 exit a, 170 exit wait, 200 collect");
    assert_non_null(strstr(core_written(), "0 par/wait 1 (170 2 50 1)"));
    assert_non_null(strstr(core_written(), "0 par/*task 1 (50 49 0 1)"));
    assert_non_null(strstr(core_written(), "a/b/a 5 (19 0 0 5)"));
    assert_non_null(strstr(core_written(), "a/b/a/b 5 (0 0 0 5)"));
    assert_non_null(strstr(core_written(), "loss nested too deeply: counted, and their time is that of what is around "
                                           "them 9"));
}

static const core_case_t cases[] = {
    {.name = "created, run and ended",
     .events = TEAM2 "64 W1 enter task, 64 W1 create task A, 70 W1 exit task, 160 run A, 165 enter a, 180 ask, "
                     "185 exit a, 200 over A, 210 ask, 250 exit wait, 250 W1 exit wait, 300 collect",
     .expected = "team T1, barrier none, user region open, in a task: A  "
                 "team T1, barrier none, user region none, in no task: A  0 par 1 (0 0 0 1) (300 250 0 1) () ()  "
                 "0 par/wait 1 (250 0 40 1)  0 par/*task 1 (40 20 0 1) [1 96 96] [1 40 40 40]  "
                 "0 par/*task/a 1 (20 0 0 1)  1 par 1 (0 0 0 1) (300 250 0 1) () ()  1 par/wait 1 (250 6 0 1)  "
                 "1 par/wait/task 1 (6 0 0 1)"},
    {.name = "sizes and waits",
     .events = "960 create task A, 1024 run A, 1054 over A, 1920 create task A, 2048 run A, 2548 over A, "
               "3904 create task A, 4096 run A, 4103 over A, 5000 collect",
     .expected = "0 *task 3 (537 0 0 3) [3 384 192] [3 537 7 500]"},
    {.name = "suspended and resumed",
     .events = TEAM1 "32 create task A, 100 run A, 110 enter a, 120 suspend A, 130 ask, 150 enter b, 153 exit b, "
                     "220 resume A, 225 ask, 235 exit a, 240 over A, 300 exit wait, 300 collect",
     .expected = "team T1, barrier none, user region none, in no task: A suspended  "
                 "team T1, barrier none, user region open, in a task: A  0 par 1 (0 0 0 1) (300 300 0 1) () ()  "
                 "0 par/wait 1 (300 3 40 1)  0 par/*task 1 (40 25 0 1) [1 64 64] [1 40 40 40]  "
                 "0 par/*task/a 1 (25 0 0 1)  0 par/wait/b 1 (3 0 0 1)"},
    {.name = "resumed on another thread: frames move, the time so far stays",
     .events = TEAM2 "32 create task A, 100 run A, 110 enter a, 120 suspend A, 220 W1 resume A, 235 W1 exit a, "
                     "237 W1 enter a, 238 W1 exit a, 240 W1 over A, 300 exit wait, 300 W1 exit wait, 300 collect",
     .expected = "0 par 1 (0 0 0 1) (300 300 0 1) () ()  0 par/wait 1 (300 0 20 1)  "
                 "0 par/*task 0 (20 10 0 1) [1 64 64]  0 par/*task/a 0 (10 0 0 1)  "
                 "1 par 1 (0 0 0 1) (300 300 0 1) () ()  1 par/wait 1 (300 0 20 1)  "
                 "1 par/*task 1 (20 16 0 0) [1 40 40 40]  1 par/*task/a 2 (16 0 0 1)"},
    {.name = "resumed on another thread in a recursion",
     .events = TEAM2 "32 create task A, 100 run A, 110 enter a, 115 enter a, 120 suspend A, 220 W1 resume A, "
                     "230 W1 exit a, 235 W1 exit a, 240 W1 over A, 300 exit wait, 300 W1 exit wait, 300 collect",
     .expected = "0 par 1 (0 0 0 1) (300 300 0 1) () ()  0 par/wait 1 (300 0 20 1)  "
                 "0 par/*task 0 (20 10 0 1) [1 64 64]  0 par/*task/a 0 (10 0 0 1)  "
                 "1 par 1 (0 0 0 1) (300 300 0 1) () ()  1 par/wait 1 (300 0 20 1)  "
                 "1 par/*task 1 (20 15 0 0) [1 40 40 40]  1 par/*task/a 2 (15 0 0 0)"},
    {.name = "a task in a task: each has its own time",
     .events = TEAM1 "0 create task A, 0 create task B, 32 run A, 40 enter a, 64 run B, 66 ask, 70 enter a, "
                     "74 exit a, 94 over B, 96 exit a, 102 over A, 110 exit wait, 200 collect",
     .expected =
         "team T1, barrier none, user region none, in a task: A below B  0 par 1 (0 0 0 1) (200 110 0 1) () ()  "
         "0 par/wait 1 (110 0 70 1)  0 par/*task 2 (70 30 0 2) [2 96 64] [2 70 30 40]  "
         "0 par/*task/a 2 (30 0 0 2)"},
    {.name = "a team in a task",
     .events = "32 create task A, 64 run A, 70 fork par T1, 71 begin T1 0, 72 W1 begin T1 1, 80 end, 80 W1 end, "
               "85 join T1, 100 over A, 200 collect",
     .expected = "0 *task 1 (36 15 0 1) [1 32 32] [1 36 36 36]  0 *task/par 1 (1 0 0 1) (9 0 0 1) () (5 0 0 1)  "
                 "1 *task/par 1 (2 0 0 1) (8 0 0 1) () (5 0 0 1)"},
    {.name = "an untied task leaves its thread without an event",
     .events = TEAM2 "0 create task A, 100 run A, 110 W1 current A, 130 current A, 150 current none, "
                     "160 W1 resume A, 170 resume A, 190 W1 over A, 200 exit wait, 200 W1 exit wait, 200 collect",
     .expected =
         "0 par 1 (0 0 0 1) (200 200 0 1) () ()  0 par/wait 1 (200 0 50 1)  0 par/*task 0 (50 0 0 1) [1 96 96]  "
         "1 par 1 (0 0 0 1) (200 200 0 1) () ()  1 par/wait 1 (200 0 30 1)  "
         "1 par/*task 1 (30 0 0 0) [1 80 80 80]"},
    {.name = "another thread ends the task before its own thread has an event",
     .events = TEAM2 "0 create task A, 100 run A, 110 enter a, 150 W1 over A, 170 current none, 200 exit wait, "
                     "200 W1 exit wait, 200 collect",
     .expected = "0 par 1 (0 0 0 1) (200 200 0 1) () ()  0 par/wait 1 (200 0 50 1)  "
                 "0 par/*task 1 (50 40 0 1) [1 96 96]  0 par/*task/a 1 (40 0 0 1)  "
                 "1 par 1 (0 0 0 1) (200 200 0 1) () ()  1 par/wait 1 (200 0 0 1)  1 par/*task [1 50 50 50]"},
    {.name = "open when it is collected",
     .events = TEAM1 "0 create task A, 0 create task B, 100 run A, 110 enter a, 130 run B, 140 collect",
     .expected = "0 par 1 (0 0 0 1) (140 140 0 1) () ()  0 par/wait 1 (140 0 40 1)  "
                 "0 par/*task 2 (40 20 0 2) [2 224 128]  0 par/*task/a 1 (20 0 0 1)"},
    {.name = "a task without an end, and one that is not resumed",
     .events = TEAM1 "0 create task A, 0 create task B, 100 run A, 110 enter a, 130 run B, 150 over A, "
                     "160 create task C, 160 run C, 170 suspend C, 200 collect",
     .expected = "0 par 1 (0 0 0 1) (200 200 0 1) () ()  0 par/wait 1 (200 0 60 1)  "
                 "0 par/*task 2 (60 20 0 3) [3 224 128] [1 30 30 30]  0 par/*task/a 1 (20 0 0 1)  mismatch 1"},
    {.name = "not measured",
     .events = TEAM1 "0 create task A, 0 create 0 B, 10 run B, 12 over B, 20 off, 30 run A, 32 enter a, 34 exit a, "
                     "40 on, 50 suspend A, 55 resume A, 60 over A, 70 over A, 80 exit wait, 100 collect",
     .expected = "0 par 1 (0 0 0 1) (100 80 0 1) () ()  0 par/wait 1 (80 0 0 1)  paused 1"},
    {.name = "suspended in a region that is skipped",
     .events = TEAM1 "0 create task A, 100 run A, 110 off, 111 enter a, 112 on, 120 suspend A, 130 enter b, "
                     "135 exit b, 140 resume A, 145 exit a, 150 over A, 160 exit wait, 200 collect",
     .expected = "0 par 1 (0 0 0 1) (200 160 0 1) () ()  0 par/wait 1 (160 5 30 1)  "
                 "0 par/*task 1 (30 0 0 1) [1 96 96] [1 30 30 30]  0 par/wait/b 1 (5 0 0 1)  paused 1"},
    {.name = "nested too deeply", .run = nest_deeply},
};

CORE_MAIN(cases)
