/*
 * A libnvshmem_host.so.3 for tests: what it has beyond NVSHMEM. It works on the software GPU, between processes of one host,
 * and between threads that have loaded a copy of the file each, as a process is one rank of a library.
 *
 * As NVSHMEM, it ends the process where it is called before it is initialised, or with an address or a rank that is none, and
 * waits for ever for a rank that is gone.
 *
 * Variables of the environment, which the functions below change for this process:
 *   SOFT_NVSHMEM_LATE_NANOS     the longest random delay before each put, and between its bytes and its signal
 *   SOFT_NVSHMEM_FAIL           "init" or "malloc": what fails
 *   SOFT_NVSHMEM_NO_PEERS       if set, no rank's memory is mapped elsewhere for kernels
 */
#ifndef SOFT_NVSHMEM_H
#define SOFT_NVSHMEM_H

#include <stdint.h>

void soft_nvshmem_late(uint64_t nanoseconds);
/* "init", "malloc", or NULL for nothing. */
void soft_nvshmem_fail(const char *what);
/* Counts until now "puts_made", "calls" of all functions; -1 for another name. */
int64_t soft_nvshmem_count(const char *what);

#endif
