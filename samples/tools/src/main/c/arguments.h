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

#endif
