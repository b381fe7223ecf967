/* Writes into a child's memory by process_vm_writev: one system call for each, and more only if it writes a part. */
#include "ceiling.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that has memory and does nothing, for as long as its parent keeps the other end of a pipe open. */
struct holder {
    pid_t child;
    int keep;
    uint64_t address;
};

static bool tell(int pipe, uint64_t address) {
    return write(pipe, &address, sizeof address) == (ssize_t)sizeof address;
}

static bool hear(int pipe, uint64_t *address) {
    ssize_t heard;
    do {
        heard = read(pipe, address, sizeof *address);
    } while (heard < 0 && errno == EINTR);
    return heard == (ssize_t)sizeof *address && *address != 0;
}

static void wait_for_end(int pipe) {
    unsigned char byte;
    ssize_t heard;
    do {
        heard = read(pipe, &byte, sizeof byte);
    } while (heard > 0 || (heard < 0 && errno == EINTR));
}

/* What the child does. Its memory is its own, not what it has inherited. */
static int hold(uint64_t size, int telling, int ending) {
    unsigned char *memory = memory_of(size);
    bool told = tell(telling, (uint64_t)(uintptr_t)memory);
    close(telling);
    if (told && memory != NULL) {
        wait_for_end(ending);
    }
    free(memory);
    return told ? 0 : 1;
}

static int start_with(struct holder *holder, uint64_t size, int addresses[2], int lifetime[2]) {
    pid_t child = fork();
    if (child < 0) {
        return complain("fork", errno);
    }
    if (child == 0) {
        close(addresses[0]);
        close(lifetime[1]);
        _exit(hold(size, addresses[1], lifetime[0]));
    }
    close(addresses[1]);
    holder->child = child;
    return hear(addresses[0], &holder->address) ? 0 : complain("the child has no memory", 0);
}

static void end_holder(const struct holder *holder) {
    close(holder->keep);
    while (waitpid(holder->child, NULL, 0) < 0 && errno == EINTR) {
    }
}

static int write_whole(const struct holder *holder, unsigned char *from, uint64_t size) {
    uint64_t written = 0;
    while (written < size) {
        struct iovec local = {.iov_base = from + written, .iov_len = (size_t)(size - written)};
        struct iovec remote = {
            /* An address of the child's. */
            .iov_base = (void *)(uintptr_t)(holder->address + written),
            .iov_len = (size_t)(size - written),
        };
        ssize_t count = process_vm_writev(holder->child, &local, 1, &remote, 1, 0);
        if (count > 0) {
            written += (uint64_t)count;
        } else if (count == 0 || errno != EINTR) {
            return complain("process_vm_writev", count < 0 ? errno : 0);
        }
    }
    return 0;
}

static int run(const struct holder *holder, const struct plan *plan, unsigned char *from, struct figures *figures) {
    uint64_t done = 0;
    struct stopwatch watch = stopwatch_start(plan);
    do {
        if (write_whole(holder, from, plan->size) != 0) {
            return -1;
        }
        done++;
    } while (stopwatch_runs(&watch, plan, done));
    stopwatch_figures(&watch, figures);
    return 0;
}

int cross_memory_write(const struct plan *plan, struct figures *figures) {
    int addresses[2];
    int lifetime[2];
    if (pipe(addresses) < 0 || pipe(lifetime) < 0) {
        return complain("pipe", errno);
    }
    struct holder holder = {.child = -1, .keep = lifetime[1]};
    unsigned char *from = memory_of(plan->size);
    int result = from == NULL ? -1 : start_with(&holder, plan->size, addresses, lifetime);
    if (result == 0) {
        result = run(&holder, plan, from, figures);
    }
    if (holder.child >= 0) {
        end_holder(&holder);
    }
    free(from);
    return result;
}
