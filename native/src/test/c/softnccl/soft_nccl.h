/*
 * A libnccl.so.2 for tests: what it has beyond NCCL. It works on the software GPU, between threads and processes of one host;
 * messages go through a file in /dev/shm that has the name of the unique id.
 *
 * As NCCL, it does nothing about a rank that is gone: what waits for it waits until the communicator is aborted.
 *
 * Variables of the environment, which the functions below change for this process:
 *   SOFT_NCCL_LATE_NANOS   the longest random delay before each group
 *   SOFT_NCCL_SHUFFLE      if set, messages of a group move in pieces, in random order
 *   SOFT_NCCL_FAIL_AFTER   so many more groups are taken, then the communicator fails
 */
#ifndef SOFT_NCCL_H
#define SOFT_NCCL_H

#include <stdint.h>

void soft_nccl_late(uint64_t nanoseconds);
void soft_nccl_shuffle(int on);
void soft_nccl_fail_after(int64_t groups);
/* Counts "communicators" that there are, and until now "aborts", "groups", "puts_made", "mistakes" of the caller; -1 for another name. */
int64_t soft_nccl_count(const char *what);

#endif
