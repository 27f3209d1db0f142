/* Threads: their rows in the profile, their begin and end, and regions that are open at the end. */
#include "core_tools.h"

enum { PLACES = 150, SPACING = 211, ROUNDS = 4 };

/* As many constructs as LULESH has, in a loop: nearly all of them are found without a lock. */
static void meet_many_places(void)
{
    static char code[PLACES * SPACING];
    unsigned found = 0;

    core_play("1 enter a, 2 exit a");
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < PLACES; i++) {
            const char *place = code + (size_t)i * SPACING;
            found += ompp_region_met_at(OMPP_CONSTRUCT_LOOP, place) != 0;
            assert_true(ompp_region_at(OMPP_CONSTRUCT_LOOP, place, NULL) != 0);
        }
    assert_in_range(found, (ROUNDS - 1) * PLACES * 9 / 10, (ROUNDS - 1) * PLACES);
}

static const core_case_t cases[] = {
    {.name = "many places", .run = meet_many_places},
    {.name = "a thread keeps the number of its first team",
     .events = "10 fork par T1, 11 begin T1 0, 12 W2 begin T1 2, 15 W1 begin T1 1, 20 W1 end, 20 W2 end, 20 end, "
               "20 join T1, 30 fork par T2, 31 begin T2 0, 32 W1 begin T2 2, 33 W2 begin T2 1, 34 W2 enter a, "
               "39 W2 exit a, 40 W1 end, 40 W2 end, 40 end, 40 join T2, 100 collect, 100 rows",
     .expected = "0 par 2 (2 0 0 2) (18 0 0 2) () (0 0 0 2)  1 par 2 (7 0 0 2) (13 0 0 2) () (0 0 0 2)  "
                 "2 par 2 (5 0 0 2) (15 5 0 2) () (0 0 0 2)  2 par/a 1 (5 0 0 1)  0 initial 0-100  1 team 15-100  "
                 "2 team 12-100"},
    {.name = "order of rows: outer teams, inner teams, other threads",
     .events = "5 W3 enter a, 10 fork par T1, 11 begin T1 0, 12 fork par2 T2, 12 begin T2 0 nested, "
               "13 W2 begin T2 1 nested, 14 W1 begin T1 1, 20 W2 end, 22 join T2, 40 W1 end, 40 join T1, "
               "50 W3 exit a, 100 collect, 100 rows",
     .expected = "0 par 1 (1 0 0 1) (29 10 0 1) () ()  0 par/par2 1 (0 0 0 1) (10 0 0 1) () ()  "
                 "1 par 1 (4 0 0 1) (26 0 0 1) () (0 0 0 1)  2 par/par2 1 (1 0 0 1) (7 0 0 1) () (2 0 0 1)  "
                 "3 a 1 (45 0 0 1)  0 initial 0-100  1 team 14-100  2 nested 13-100  3 other 5-100"},
    {.name = "a thread in inner teams of two threads: a row for each place",
     .events = "10 fork par T1, 10 begin T1 0, 10 W1 begin T1 1, 12 fork par2 T2, 12 begin T2 0 nested, "
               "13 W2 begin T2 1 nested, 20 W2 end, 22 join T2, 25 W1 fork par2 T2, 25 W1 begin T2 0 nested, "
               "26 W2 begin T2 1 nested, 29 W2 end, 30 W1 join T2, 40 W1 end, 40 join T1, 50 fork par T1, "
               "50 begin T1 0, 51 fork par2 T2, 51 begin T2 0 nested, 51 W2 begin T2 1 nested, 55 W2 end, "
               "55 join T2, 60 join T1, 100 collect, 100 rows",
     .expected = "0 par 2 (0 0 0 2) (40 14 0 2) () ()  0 par/par2 2 (0 0 0 2) (14 0 0 2) () ()  "
                 "1 par 1 (0 0 0 1) (30 5 0 1) () (0 0 0 1)  1 par/par2 1 (0 0 0 1) (5 0 0 1) () ()  "
                 "2 par/par2 2 (1 0 0 2) (11 0 0 2) () (2 0 0 2)  3 par/par2 1 (1 0 0 1) (3 0 0 1) () (1 0 0 1)  "
                 "0 initial 0-100  1 team 10-100  2 nested 13-100  3 nested 26-51"},
    {.name = "a worker ends, and a new one gets its row",
     .events = "10 fork par T1, 12 W1 begin T1 1, 20 W1 end, 25 join T1, 26 W1 enter a, 30 W1 gone, 35 rows, "
               "40 fork par T1, 41 W1 begin T1 1, 45 W1 end, 50 join T1, 60 W1 enter a, 65 W1 exit a, 70 W1 gone, "
               "80 collect, 100 rows",
     .expected = "0 initial 0-35  1 team 12-30  0 par 2 (25 0 0 2) () () ()  "
                 "1 par 2 (3 0 0 2) (12 0 0 2) () (10 0 0 2)  1 a 2 (9 0 0 2)  0 initial 0-100  1 team 12-70"},
    {.name = "workers end, and new ones get the rows of their numbers",
     .events = "10 fork par T1, 11 W1 begin T1 1, 12 W2 begin T1 2, 20 W1 end, 20 W2 end, 20 join T1, 25 W1 gone, "
               "26 W2 gone, 30 fork par T1, 31 W1 begin T1 1, 33 W2 begin T1 2, 40 W1 end, 40 W2 end, 40 join T1, "
               "100 collect",
     .expected = "0 par 2 (20 0 0 2) () () ()  1 par 2 (2 0 0 2) (18 0 0 2) () (0 0 0 2)  "
                 "2 par 2 (5 0 0 2) (15 0 0 2) () (0 0 0 2)"},
    {.name = "the new worker comes before the old one has ended: one row",
     .events = "10 fork par T1, 10 W1 begin T1 1, 20 W1 end, 20 join T1, 30 fork par T1, 30 W2 begin T1 1, "
               "35 W1 gone, 40 W2 end, 40 join T1, 100 collect, 100 rows",
     .expected = "0 par 2 (20 0 0 2) () () ()  1 par 2 (0 0 0 2) (20 0 0 2) () (0 0 0 2)  0 initial 0-100  "
                 "1 team 10-100"},
    {.name = "two threads fork teams at the same time: a row for each worker",
     .events = "10 fork par T1, 10 W1 begin T1 1, 15 W3 fork par T2, 15 W2 begin T2 1, 20 W1 end, 22 W2 end, "
               "30 join T1, 32 W3 join T2, 100 collect, 100 rows",
     .expected = "0 par 1 (20 0 0 1) () () ()  1 par 1 (0 0 0 1) (10 0 0 1) () (10 0 0 1)  "
                 "2 par 1 (0 0 0 1) (7 0 0 1) () (10 0 0 1)  3 par 1 (17 0 0 1) () () ()  0 initial 0-100  "
                 "1 team 10-100  2 team 15-100  3 other 15-100"},
    {.name = "a member that comes late to its team, to a row that another team had meanwhile",
     .events = "10 W3 fork par T2, 15 fork par T1, 16 W1 begin T1 1, 30 W1 end, 30 join T1, 40 W2 begin T2 1, "
               "50 W2 end, 50 W3 join T2, 100 collect",
     .expected =
         "0 par 1 (15 0 0 1) () () ()  1 par 2 (11 0 0 2) (24 0 0 2) () (0 0 0 2)  2 par 1 (40 0 0 1) () () ()"},
    {.name = "a member that has left a team, which is not joined yet, when another comes for its place",
     .events = "10 W3 fork par T2, 11 W1 begin T2 1, 15 W1 end, 20 fork par T1, 21 W2 begin T1 1, 30 W2 end, "
               "35 join T1, 40 W3 join T2, 100 collect",
     .expected = "0 par 1 (15 0 0 1) () () ()  1 par 1 (1 0 0 1) (4 0 0 1) () (25 0 0 1)  "
                 "2 par 1 (1 0 0 1) (9 0 0 1) () (5 0 0 1)  3 par 1 (30 0 0 1) () () ()"},
    {.name = "a member that is in a task when another comes for its place",
     .events = "10 W3 fork par T2, 11 W1 begin T2 1, 15 W1 create task A, 16 W1 run A, 20 fork par T1, "
               "21 W2 begin T1 1, 30 W2 end, 35 join T1, 36 W1 over A, 37 W1 end, 40 W3 join T2, 100 rows",
     .expected = "0 initial 0-100  1 team 11-100  2 team 21-100  3 other 10-100"},
    {.name = "other threads: as many rows as live at the same time",
     .events = "1 enter b, 3 exit b, 10 W1 enter a, 20 W2 enter a, 25 W2 exit a, 30 W1 gone, 40 W3 enter a, "
               "42 W3 exit a, 50 W1 enter a, 60 W1 exit a, 100 collect, 100 rows",
     .expected = "0 b 1 (2 0 0 1)  1 a 2 (22 0 0 2)  2 a 1 (5 0 0 1)  3 a 1 (10 0 0 1)  0 initial 0-100  "
                 "1 other 10-100  2 other 20-100  3 other 50-100"},
    {.name = "a thread with work of its own becomes a worker: another row",
     .events = "10 W1 enter a, 15 W1 exit a, 20 fork par T1, 21 W1 begin T1 1, 28 W1 end, 30 join T1, 100 collect, "
               "100 rows",
     .expected = "0 par 1 (10 0 0 1) () () ()  1 par 1 (1 0 0 1) (7 0 0 1) () (2 0 0 1)  2 a 1 (5 0 0 1)  "
                 "0 initial 0-100  1 team 21-100  2 other 10-21"},
    /* Sources may use one stamp for several events. The thread's begin replaces it. */
    {.name = "a time stamp from before the thread",
     .events = "50 enter a, 30 W1 enter a, 60 W1 exit a, 70 exit a, 100 collect, 100 rows",
     .expected = "0 a 1 (20 0 0 1)  1 a 1 (10 0 0 1)  0 initial 0-100  1 other 50-100"},
    {.name = "a time stamp from before the end of the thread that had the row",
     .events = "10 W1 enter a, 20 W1 exit a, 50 W1 gone, 30 W2 enter a, 70 W2 exit a, 100 collect, 100 rows",
     .expected = "0 a 2 (30 0 0 2)  0 other 10-100"},
    {.name = "a member that comes after the fork, to a row whose thread ended in between",
     .events = "10 fork par T1, 11 begin T1 0, 12 W1 begin T1 1, 20 W1 end, 20 end, 30 join T1, 32 fork par T2, "
               "50 W1 gone, 40 W2 begin T2 1, 60 W2 end, 60 end, 70 join T2, 100 collect",
     .expected = "0 par 2 (29 0 0 2) (9 0 0 1) () (20 0 0 2)  1 par 2 (2 0 0 2) (18 0 0 2) () (20 0 0 2)"},
    {.name = "two threads had the same place in inner teams, and are in an outermost team at the same time: two rows",
     .events = "10 fork par T1, 10 begin T1 0, 11 fork par2 T2, 11 begin T2 0 nested, 12 W1 begin T2 1 nested, "
               "15 W1 end, 15 join T2, 16 fork par2 T2, 16 begin T2 0 nested, 17 W2 begin T2 1 nested, 20 W2 end, "
               "20 join T2, 20 end, 21 join T1, 30 fork par T1, 30 begin T1 0, 31 W1 begin T1 1, 31 W2 begin T1 2, "
               "50 W1 end, 50 W2 end, 50 end, 50 join T1, 100 collect, 100 rows",
     .expected = "0 par 2 (0 0 0 2) (30 8 0 2) () (1 0 0 2)  0 par/par2 2 (0 0 0 2) (8 0 0 2) () ()  "
                 "1 par 1 (1 0 0 1) (19 0 0 1) () (0 0 0 1)  1 par/par2 1 (1 0 0 1) (3 0 0 1) () (0 0 0 1)  "
                 "2 par 1 (1 0 0 1) (19 0 0 1) () (0 0 0 1)  2 par/par2 1 (1 0 0 1) (3 0 0 1) () (0 0 0 1)  "
                 "0 initial 0-100  1 nested 12-100  2 nested 17-100"},
    {.name = "the thread ends in a task",
     .events = "0 create task A, 10 W1 enter a, 20 W1 run A, 25 W1 enter b, 40 W1 gone, 100 collect",
     .expected = "1 a 1 (30 0 20 1)  1 *task 1 (20 15 0 1) [1 0 0]  1 *task/b 1 (15 0 0 1)"},
};

CORE_MAIN(cases)
