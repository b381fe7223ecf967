/* Libraries whose functions Java calls by their addresses. */
#ifndef DYNAMIC_LIBRARY_H
#define DYNAMIC_LIBRARY_H

#include "foreign_library.h"

/*
 * Sets variables of the environment, then opens a file, with the process's signal handlers kept. Returns the handle; or NULL,
 * and writes why.
 */
void *sluice_dynamic_open(
        const char *file, const char *const *variables, size_t count, char cause[FOREIGN_CAUSE_BYTES]);

/*
 * Opens a file as above, looks functions up, and closes it again: a library that nothing else has opened is unloaded. Returns
 * whether it has them; else writes why not.
 */
bool sluice_dynamic_try(
        const char *file, const char *const *functions, size_t count, char cause[FOREIGN_CAUSE_BYTES]);

/* Returns the address of a function, or NULL. */
void *sluice_dynamic_symbol(void *handle, const char *name);

#endif
