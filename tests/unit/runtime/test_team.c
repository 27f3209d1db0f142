/* Teams: what each member gets from fork to join. Phases of a PARALLEL: startup, body, exit barrier, shutdown. */
#include "core_tools.h"

/* Records of teams are used again when all are. */
#define ALONE "200 fork par T2, 200 begin T2 0, 200 join T2, "
#define MANY_ALONE ALONE ALONE ALONE ALONE ALONE ALONE ALONE ALONE ALONE ALONE

static const core_case_t cases[] = {
    /* A worker leaves the barrier with the forking thread at the latest. Its shutdown lasts until the join. */
    {.name = "fork to join, twice",
     .events = "10 fork par T1, 15 begin T1 0, 20 W1 begin T1 1, 40 W1 arrive, 50 arrive, 60 leave, 62 W1 leave, "
               "65 end, 67 W1 end, 70 join T1, 90 fork par T2, 91 begin T2 0, 92 W1 begin T2 1, 95 end, 97 join T2, "
               "98 W1 end, 200 collect",
     .expected = "0 par 2 (6 0 0 2) (39 0 0 2) (10 0 0 1) (12 0 0 2)  "
                 "1 par 2 (12 0 0 2) (25 0 0 2) (20 0 0 1) (10 0 0 2)"},
    {.name = "the worker has not been told to leave the barrier yet",
     .events = "10 fork par T1, 15 begin T1 0, 20 W1 begin T1 1, 40 W1 arrive, 50 arrive, 60 leave, 65 end, "
               "70 join T1, 75 collect",
     .expected = "0 par 1 (5 0 0 1) (35 0 0 1) (10 0 0 1) (10 0 0 1)  1 par 1 (10 0 0 1) (20 0 0 1) (30 0 0 1) ()"},
    /* libomp tells a worker's end at its next fork. The forking thread leaves no second barrier: the join ends it. */
    {.name = "the worker leaves the barrier when it is needed again",
     .events = "10 fork par T1, 15 begin T1 0, 20 W1 begin T1 1, 40 W1 arrive, 50 arrive, 60 leave, 65 end, "
               "70 join T1, 80 fork par T2, 81 begin T2 0, 82 W1 leave, 83 W1 end, 84 W1 begin T2 1, 90 W1 arrive, "
               "90 end, 92 join T2, 99 W1 leave, 99 W1 end, 200 collect",
     .expected = "0 par 2 (6 0 0 2) (44 0 0 2) (10 0 0 1) (12 0 0 2)  "
                 "1 par 2 (14 0 0 2) (26 0 0 2) (22 0 0 2) (10 0 0 2)"},
    {.name = "nobody tells more than the arrival: the join does",
     .events = "10 fork par T1, 15 begin T1 0, 20 W1 begin T1 1, 40 W1 arrive, 50 arrive, 70 join T1, "
               "80 fork par T2, 81 begin T2 0, 84 W1 begin T2 1, 90 W1 arrive, 92 arrive, 99 join T2, "
               "110 fork sections T1, 111 begin T1 0, 112 W1 begin T1 1, 120 W1 arrive, 121 arrive, 130 join T1, "
               "140 fork par T1, 141 W1 begin T1 1, 150 join T1, 200 collect",
     .expected = "0 par 3 (16 0 0 3) (46 0 0 2) (27 0 0 2) (0 0 0 2)  0 sections 1 (1 0 0 1) (10 0 0 1) () (9 0 0 1) "
                 "(0 0 0 1)  "
                 "1 par 3 (15 0 0 3) (35 0 0 3) (39 0 0 2) (0 0 0 2)  1 sections 1 (2 0 0 1) (8 0 0 1) () (10 0 0 1) "
                 "(0 0 0 1)"},
    {.name = "the same of a team within a team",
     .events = "10 fork par T1, 11 begin T1 0, 20 fork par2 T2, 22 begin T2 0 nested, 25 W1 begin T2 1 nested, "
               "30 W1 arrive, 32 arrive, 40 join T2, 41 ask, 50 arrive, 60 join T1, 61 ask, 70 fork par T1, "
               "72 W1 begin T1 1, 75 W1 arrive, 80 join T1, 100 collect",
     .expected = "team T1, barrier none, user region none, in no task:  "
                 "team T0, barrier none, user region none, in no task:  "
                 "0 par 2 (11 0 0 2) (39 20 0 1) (10 0 0 1) (0 0 0 1)  "
                 "0 par/par2 1 (2 0 0 1) (10 0 0 1) (8 0 0 1) (0 0 0 1)  1 par 1 (2 0 0 1) (3 0 0 1) (5 0 0 1) ()  "
                 "1 par/par2 1 (5 0 0 1) (5 0 0 1) (10 0 0 1) (0 0 0 1)"},
    {.name = "a worker that comes to the second team only",
     .events = "10 fork par T1, 15 begin T1 0, 30 end, 35 join T1, 50 fork par T2, 52 W1 begin T2 1, "
               "54 W1 enter loop, 58 W1 exit loop, 60 W1 end, 70 join T2, 100 collect",
     .expected = "0 par 2 (25 0 0 2) (15 0 0 1) () (5 0 0 1)  1 par 1 (2 0 0 1) (8 4 0 1) () (10 0 0 1)  "
                 "1 par/loop 1 (4 0 0 1) ()"},
    {.name = "a worker has no event between its first team and the third one",
     .events = "10 fork par T1, 11 begin T1 0, 12 W1 begin T1 1, 20 end, 21 W1 end, 30 join T1, 40 fork par2 T2, "
               "41 begin T2 0, 50 end, 60 join T2, 70 fork par2 T3, 71 W1 begin T3 1, 75 W1 end, 80 join T3, "
               "100 collect",
     .expected = "0 par 1 (1 0 0 1) (9 0 0 1) () (10 0 0 1)  0 par2 2 (11 0 0 2) (9 0 0 1) () (10 0 0 1)  "
                 "1 par 1 (2 0 0 1) (9 0 0 1) () (9 0 0 1)  1 par2 1 (1 0 0 1) (4 0 0 1) () (5 0 0 1)"},
    {.name = "the worker's path is the forking thread's",
     .events = "10 enter a, 20 enter b, 100 fork par T1, 101 begin T1 0, 102 W1 begin T1 1, 103 W1 enter loop, "
               "106 W1 exit loop, 107 W1 end, 110 end, 110 join T1, 200 fork par T1, 202 W1 begin T1 1, 207 W1 end, "
               "210 join T1, 300 exit b, 310 fork par T2, 312 W1 begin T2 1, 320 W1 end, 330 join T2, 400 exit a, "
               "500 collect",
     .expected = "0 a 1 (390 300 0 1)  0 a/b 1 (280 20 0 1)  0 a/b/par 2 (11 0 0 2) (9 0 0 1) () (0 0 0 1)  "
                 "0 a/par 1 (20 0 0 1) () () ()  1 a/b/par 2 (4 0 0 2) (10 3 0 2) () (6 0 0 2)  "
                 "1 a/par 1 (2 0 0 1) (8 0 0 1) () (10 0 0 1)  1 a/b/par/loop 1 (3 0 0 1) ()"},
    {.name = "a team within a team",
     .events = "10 fork par T1, 11 begin T1 0, 12 W1 begin T1 1, 20 W1 fork par2 T2, 22 W1 begin T2 0 nested, "
               "25 W2 begin T2 1 nested, 26 W1 ask, 26 W2 ask, 30 W2 end, 35 W1 end, 40 W1 join T2, 41 W1 ask, "
               "50 W1 end, 55 end, 60 join T1, 61 ask, 100 collect",
     .expected = "team T2, barrier none, user region none, in no task:  "
                 "team T2, barrier none, user region none, in no task:  "
                 "team T1, barrier none, user region none, in no task:  "
                 "team T0, barrier none, user region none, in no task:  0 par 1 (1 0 0 1) (44 0 0 1) () (5 0 0 1)  "
                 "1 par 1 (2 0 0 1) (38 20 0 1) () (10 0 0 1)  1 par/par2 1 (2 0 0 1) (13 0 0 1) () (5 0 0 1)  "
                 "2 par/par2 1 (5 0 0 1) (5 0 0 1) () (10 0 0 1)"},
    /* Only a parallel region inside itself gets a call path of its own. */
    {.name = "the parallel region within itself",
     .events = "10 fork par T1, 11 begin T1 0, 20 fork par T2, 21 begin T2 0 nested, 22 W1 begin T2 1 nested, "
               "30 W1 end, 30 end, 35 join T2, 40 end, 50 join T1, 100 collect",
     .expected = "0 par 1 (1 0 0 1) (29 15 0 1) () (10 0 0 1)  0 par/par 1 (1 0 0 1) (9 0 0 1) () (5 0 0 1)  "
                 "1 par/par 1 (2 0 0 1) (8 0 0 1) () (5 0 0 1)"},
    {.name = "a team that is not measured, and a later one that is",
     .events = "5 off, 10 fork par T1, 11 begin T1 0, 12 on, 12 W1 begin T1 1, 15 W1 enter a, 16 enter a, 18 exit a, "
               "20 W1 exit a, 22 W1 arrive, 23 W1 leave, 24 W1 end, 25 end, 30 join T1, 40 enter a, 43 exit a, "
               "44 W1 enter b, 45 W1 exit b, 70 fork par T3, 71 begin T3 0, 72 W1 begin T3 1, 74 W1 enter a, "
               "77 W1 exit a, 80 W1 end, 80 end, 85 join T3, 100 collect",
     .expected = "0 a 1 (3 0 0 1)  0 par 1 (1 0 0 1) (9 0 0 1) () (5 0 0 1)  1 par 1 (2 0 0 1) (8 3 0 1) () (5 0 0 1)  "
                 "1 b 1 (1 0 0 1)  1 par/a 1 (3 0 0 1)  paused 1"},
    {.name = "a team whose region is not measured, and whose worker is told no end",
     .events = "10 fork 0 T1, 11 begin T1 0, 12 W1 begin T1 1, 14 W1 enter a, 16 W1 exit a, 20 join T1, "
               "30 fork par T2, 31 begin T2 0, 33 W1 begin T2 1, 35 W1 end, 35 end, 40 join T2, 100 collect",
     .expected = "0 par 1 (1 0 0 1) (4 0 0 1) () (5 0 0 1)  1 par 1 (3 0 0 1) (2 0 0 1) () (5 0 0 1)"},
    /* Its entry on both threads, and what the worker enters. */
    {.name = "a team whose region found no room",
     .events = "10 fork ? T1, 11 begin T1 0, 12 W1 begin T1 1, 14 W1 enter a, 16 W1 exit a, 20 join T1, "
               "30 fork par T2, 31 begin T2 0, 33 W1 begin T2 1, 35 W1 end, 35 end, 40 join T2, 100 collect",
     .expected = "0 par 1 (1 0 0 1) (4 0 0 1) () (5 0 0 1)  1 par 1 (3 0 0 1) (2 0 0 1) () (5 0 0 1)  "
                 "dropped memory for the profile is full: OMPP_MEMORY 3"},
    {.name = "a region in it that found no room, and whose end is not told",
     .events = "10 fork par T1, 11 begin T1 0, 12 enter ?, 13 enter a, 15 exit a, 20 end, 30 join T1, 40 enter a, "
               "45 exit a, 50 exit ?, 100 collect",
     .expected = "0 par 1 (1 0 0 1) (19 0 0 1) () ()  0 a 1 (5 0 0 1)  "
                 "dropped memory for the profile is full: OMPP_MEMORY 2"},
    {.name = "members that never end, or whose thread ends",
     .events = "10 fork par T1, 11 begin T1 0, 12 W1 begin T1 1, 12 W2 begin T1 2, 12 W3 begin T1 3, "
               "20 W1 enter loop, 25 W2 gone, 30 end, 40 join T1, 50 W3 gone, 100 collect",
     .expected = "0 par 1 (1 0 0 1) (19 0 0 1) () (10 0 0 1)  1 par 1 (2 0 0 1) (28 20 0 1) () ()  "
                 "1 par/loop 1 (20 0 0 1) ()  2 par 1 (2 0 0 1) (13 0 0 1) () ()  3 par 1 (2 0 0 1) (28 0 0 1) () ()"},
    {.name = "a worker that has left the barrier at its end has left the team",
     .events = "10 fork par T1, 11 begin T1 0, 12 W1 begin T1 1, 20 arrive, 20 W1 arrive, 25 leave, 26 W1 leave, "
               "27 W1 enter a, 28 W1 exit a, 30 join T1, 100 collect",
     .expected = "0 par 1 (1 0 0 1) (9 0 0 1) (5 0 0 1) (5 0 0 1)  1 par 1 (2 0 0 1) (8 0 0 1) (5 0 0 1) (2 0 0 1)  "
                 "1 a 1 (1 0 0 1)"},
    {.name = "a member that never ends, and begins again",
     .events = "10 fork par T1, 11 begin T1 0, 12 W1 begin T1 1, 30 end, 40 join T1, 50 fork par T2, 51 begin T2 0, "
               "53 W1 begin T2 1, 60 W1 end, 60 end, 70 join T2, 100 collect",
     .expected = "0 par 2 (2 0 0 2) (28 0 0 2) () (20 0 0 2)  1 par 2 (5 0 0 2) (35 0 0 2) () (10 0 0 1)"},
    /* The last team before the task is known until the worker comes back to its frame. */
    {.name = "a task that ends after later teams",
     .events = "10 fork par T1, 11 begin T1 0, 12 W1 begin T1 1, 20 end, 30 join T1, 40 fork par T1, 41 begin T1 0, "
               "42 W1 begin T1 1, 43 W1 create task A, 44 W1 run A, 50 end, 60 join T1, 70 fork par T2, 71 begin T2 0, "
               "72 W1 begin T2 1, 80 end, 90 join T2, 100 fork par T3, 101 begin T3 0, 102 W1 begin T3 1, 110 end, "
               "120 join T3, " MANY_ALONE MANY_ALONE MANY_ALONE MANY_ALONE
               "300 W1 over A, 310 fork par T2, 312 W1 begin T2 1, 320 W1 end, 330 join T2, 400 collect",
     .expected = "0 par 45 (24 0 0 45) (36 0 0 44) () (40 0 0 4)  1 par 5 (10 0 0 5) (80 0 256 5) () (10 0 0 1)  "
                 "1 par/*task 1 (256 40 0 1) [1 0 0] [1 256 256 256]"},
    {.name = "regions left open at the end, and an exit of a region from before the team",
     .events = "5 enter a, 10 fork par T1, 11 begin T1 0, 12 W1 begin T1 1, 20 W1 enter loop, 22 enter loop, "
               "25 exit a, 30 W1 end, 32 join T1, 50 enter loop, 55 exit loop, 60 exit a, 100 collect",
     .expected = "0 a 1 (55 27 0 1)  0 a/par 1 (1 0 0 1) (21 10 0 1) () ()  0 a/par/loop 1 (10 0 0 1) ()  "
                 "0 a/loop 1 (5 0 0 1) ()  1 a/par 1 (2 0 0 1) (18 10 0 1) () (2 0 0 1)  1 a/par/loop 1 (10 0 0 1) ()  "
                 "mismatch loop 2  mismatch a 1"},
    {.name = "cancelled: no region from before the team",
     .events = "5 enter a, 10 fork par T1, 11 begin T1 0, 20 enter loop, 21 unwind a, 25 unwind par, 30 end, "
               "32 join T1, 40 exit a, 100 collect",
     .expected = "0 a 1 (35 22 0 1)  0 a/par 1 (1 0 0 1) (19 5 0 1) () (2 0 0 1)  0 a/par/loop 1 (5 0 0 1) ()"},
    {.name = "parallel sections begin with their management",
     .events = "10 fork sections T1, 13 begin T1 0, 20 phase sections section, 24 phase sections mgmt, 30 arrive, "
               "36 leave, 40 end, 41 join T1, 100 collect",
     .expected = "0 sections 1 (3 0 0 1) (13 0 0 2) (4 0 0 1) (6 0 0 1) (5 0 0 1)"},
};

CORE_MAIN(cases)
