/* Writes into a child's memory by process_vm_writev: one system call for each, and more only if it writes a part. */
#include "ceiling.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that is stopped and ends with its parent. Once it has written its pages they are not its parent's any more. */
static pid_t start_holder(unsigned char *memory, uint64_t size) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0) {
        return complain("fork", errno);
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        memset(memory, 2, (size_t)size);
        if (getppid() == parent) {
            raise(SIGSTOP);
        }
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, WUNTRACED) < 0 && errno == EINTR) {
    }
    return WIFSTOPPED(status) ? child : complain("the child has no memory", 0);
}

static void end_holder(pid_t child) {
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

static int write_whole(pid_t child, unsigned char *memory, unsigned char *from, uint64_t size) {
    uint64_t written = 0;
    while (written < size) {
        struct iovec local = {.iov_base = from + written, .iov_len = (size_t)(size - written)};
        struct iovec remote = {.iov_base = memory + written, .iov_len = (size_t)(size - written)};
        ssize_t count = process_vm_writev(child, &local, 1, &remote, 1, 0);
        if (count > 0) {
            written += (uint64_t)count;
        } else if (count == 0 || errno != EINTR) {
            return complain("process_vm_writev", count < 0 ? errno : 0);
        }
    }
    return 0;
}

static int run(pid_t child, const struct plan *plan, unsigned char *memory, unsigned char *from, struct figures *figures) {
    uint64_t done = 0;
    struct stopwatch watch = stopwatch_start(plan);
    do {
        if (write_whole(child, memory, from, plan->size) != 0) {
            return -1;
        }
        done++;
    } while (stopwatch_runs(&watch, plan, done));
    stopwatch_figures(&watch, figures);
    return 0;
}

int cross_memory_write(const struct plan *plan, struct figures *figures) {
    unsigned char *memory = memory_of(plan->size);
    unsigned char *from = memory_of(plan->size);
    pid_t child = memory == NULL || from == NULL ? -1 : start_holder(memory, plan->size);
    int result = child < 0 ? -1 : run(child, plan, memory, from, figures);
    if (child >= 0) {
        end_holder(child);
    }
    free(memory);
    free(from);
    return result;
}
