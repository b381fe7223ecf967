/* Parses the programs' command lines. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#define STATUS_FAILED 1
#define STATUS_USAGE 2

/* Reads a number within bounds; says on standard error what is not one. */
bool number(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* Reads two times in milliseconds, of a warm-up and of a measurement, into nanoseconds. */
bool times(char **arguments, int64_t *warmup, int64_t *duration);

/* Binds this process, a rank, to one of the processors in a list such as 0,2, in turn; an empty one binds it to none. */
bool bind_to(const char *list, int rank);

/* The rank as MPI's launchers tell it before the library starts: it is to start on its processor. */
int launched_rank(void);

#endif
