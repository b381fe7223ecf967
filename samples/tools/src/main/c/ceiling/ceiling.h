/*
 * The baseline of a plain C program on this machine: acknowledged one-sided puts and gets over a socket, the round trip of
 * a ping-pong that spins or blocks, memcpy within private and within shared memory, and process_vm_writev. An initiator measures; a
 * target, in another process, has the memory.
 */
#ifndef CEILING_H
#define CEILING_H

#define _GNU_SOURCE

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define MAXIMUM_SIZE (UINT64_C(1) << 30)
#define MAXIMUM_INFLIGHT UINT64_C(4096)

enum mode { MODE_PUT = 1, MODE_GET = 2, MODE_PING_PONG = 3 };

/* The wait of both sides of a ping-pong: spin or block. */
enum waiting {
    WAITING_SPIN = 1,
    /* They share a processor, which each has to leave to the other one. */
    WAITING_YIELD = 2,
    /* In the kernel. */
    WAITING_BLOCK = 3
};

/* The measurement to run. Times are in nanoseconds, sizes in bytes. */
struct plan {
    enum mode mode;
    uint64_t size;
    uint64_t inflight;
    enum waiting waiting;
    int64_t warmup;
    int64_t duration;
};

/* The result: operations that ended within a time. */
struct figures {
    int64_t nanos;
    uint64_t operations;
    /* The median of a ping-pong's round trips, and what 99 of 100 took at most; 0 for all else. */
    int64_t median_nanos;
    int64_t p99_nanos;
};

/* The header of a payload. Both sides are one program on one machine, so it is sent in the layout of this machine. */
struct frame {
    uint64_t id;
    uint64_t length;
};

/* clock.c: a warm-up, and the measured time after it. */
struct stopwatch {
    int64_t warm;
    int64_t begin;
    int64_t end;
    uint64_t operations;
};

int64_t clock_nanos(void);
struct stopwatch stopwatch_start(const struct plan *plan);
/* Takes note that so many operations have ended since the start; false when the measured time is over. */
bool stopwatch_runs(struct stopwatch *watch, const struct plan *plan, uint64_t operations);
/* Whether the measured time has begun. */
bool stopwatch_measures(const struct stopwatch *watch);
void stopwatch_figures(const struct stopwatch *watch, struct figures *figures);

/* sockets.c: all give 0 or a descriptor when it went well, else -1, and have said why on standard error. */
int socket_accept_one(uint16_t port);
int socket_connect(uint16_t port);
int socket_do_not_block(int socket);
/* Sends everything, in one system call unless it is interrupted. */
int send_all(int socket, struct iovec *parts, size_t count);
/* Receives everything. 1 when the peer has ended before the first byte. */
int receive_all(int socket, struct iovec *parts, size_t count);

/* hello.c: the initiator tells the target what comes. */
int hello_send(int socket, const struct plan *plan);
int hello_receive(int socket, struct plan *plan);

/* The initiator and the target of puts and gets, or of a ping-pong. They return 0 on success. */
int one_sided_initiate(int socket, const struct plan *plan, unsigned char *memory, struct figures *figures);
int one_sided_serve(int socket, const struct plan *plan, unsigned char *memory);
int ping_pong_initiate(int socket, const struct plan *plan, struct figures *figures);
int ping_pong_serve(int socket, const struct plan *plan);

/* memory_copy.c: copies of a size from one span of memory to another one, block after block; shared: of two mappings. */
int memory_copy(const struct plan *plan, uint64_t span, bool shared, struct figures *figures);

/* cross_memory_write.c: writes of a size into the private memory of a child, the same range each time. */
int cross_memory_write(const struct plan *plan, struct figures *figures);

/* memory.c: memory that every page of has been touched; NULL, and has said so, if there is none. */
unsigned char *memory_of(uint64_t size);
/* The same of a file in memory, mapped shared; to be released with its size. */
unsigned char *shared_memory_of(uint64_t size);
void shared_memory_release(unsigned char *memory, uint64_t size);

/* complaint.c: says on standard error what went wrong, with errno's text unless that is 0; gives -1. */
int complain(const char *what, int error);

#endif
