#include "fixture.h"

#include <unistd.h>

static const struct test {
    const char *name;
    void (*run)(void);
    /* For a process with an environment of its own. */
    bool only_by_name;
} tests[] = {
    {"devices", test_devices, false},
    {"memory", test_memory, false},
    {"states", test_states, false},
    {"transfers", test_transfers, false},
    {"receives", test_receives, false},
    {"protection", test_protection, false},
    {"completion-queues", test_completion_queues, false},
    {"events", test_events, false},
    {"faults", test_faults, false},
    {"limits", test_limits, false},
    {"null-mode", test_null_mode, false},
    {"races", test_races, false},
    {"environment", test_environment, true},
};

static bool wanted(const struct test *test, int count, char **names) {
    for (int i = 1; i < count; i++) {
        if (strcmp(names[i], test->name) == 0) {
            return true;
        }
    }
    return count == 1 && !test->only_by_name;
}

/* All tests, or those whose names are given. */
int main(int count, char **names) {
    /* Nothing here may hang for ever: the signal ends the process. */
    alarm(120);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (wanted(&tests[i], count, names)) {
            fprintf(stderr, "%s\n", tests[i].name);
            tests[i].run();
        }
    }
    puts("all tests of the soft adapter passed");
    return 0;
}
