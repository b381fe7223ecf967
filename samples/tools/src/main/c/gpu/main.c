#include "gpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NANOS_PER_SECOND 1e9
#define MAXIMUM_INFLIGHT 4096
#define MAXIMUM_BLOCKS 65535
#define MAXIMUM_GRAPH 100

static int usage(void) {
    fputs("usage: gpu copy BYTES INFLIGHT WARMUP_MS DURATION_MS\n"
          "       gpu pages-copies|pages-batch BYTES PAGES INFLIGHT WARMUP_MS DURATION_MS\n"
          "       gpu pages-kernel PTX BLOCKS BYTES PAGES INFLIGHT WARMUP_MS DURATION_MS\n"
          "       gpu to-device|from-device BYTES INFLIGHT WARMUP_MS DURATION_MS\n"
          "       gpu both-ways BYTES INFLIGHT WARMUP_MS DURATION_MS\n"
          "       gpu nccl BYTES INFLIGHT WARMUP_MS DURATION_MS\n"
          "       gpu allreduce|reducescatter|allgather|broadcast|alltoall BYTES GRAPH WARMUP_MS DURATION_MS\n"
          "       gpu --handle ... shares memory by a handle, not by a descriptor\n",
            stderr);
    return STATUS_USAGE;
}

static bool read_rest(char **arguments, struct plan *plan) {
    return number(arguments[0], 1, MAXIMUM_INFLIGHT, &plan->inflight)
            && times(arguments + 1, &plan->warmup, &plan->duration);
}

/* Figures in bytes, seconds, and bytes a second; those in nanoseconds are of the measured time and of one operation. */
static int print(const char *mode, const struct plan *plan, struct figures figures) {
    double seconds = (double)figures.nanos / NANOS_PER_SECOND;
    double moved = (double)plan->bytes * (double)plan->pages * (double)figures.operations;
    printf("{\"op\":\"%s\",\"bytes\":%" PRIu64 ",\"pages\":%" PRIu64 ",\"inflight\":%" PRIu64
           ",\"seconds\":%.9f,\"rate\":%.0f,\"operations\":%" PRIu64 ",\"nanos\":%" PRId64 ",\"median_nanos\":%" PRId64 "}\n",
            mode, plan->bytes, plan->pages, plan->inflight, seconds, moved / seconds, figures.operations, figures.nanos,
            figures.median_nanos);
    return fflush(stdout) == 0 ? 0 : STATUS_FAILED;
}

static bool collective_of(const char *mode, enum collective *collective) {
    static const char *const names[] = {"allreduce", "reducescatter", "allgather", "broadcast", "alltoall"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(mode, names[i]) == 0) {
            *collective = (enum collective)i;
            return true;
        }
    }
    return false;
}

static int measure_collective(const char *mode, char **rest, struct collective_plan plan) {
    if (!number(rest[0], 1, MAXIMUM_BYTES, &plan.bytes) || !number(rest[1], 0, MAXIMUM_GRAPH, &plan.graph)
            || !times(rest + 2, &plan.warmup, &plan.duration)) {
        return usage();
    }
    struct collective_figures figures = nccl_collective_measure(&plan);
    printf("{\"op\":\"%s\",\"bytes\":%" PRIu64 ",\"graph\":%" PRIu64 ",\"operations\":%" PRIu64 ",\"nanos\":%" PRId64
           ",\"median_nanos\":%" PRId64 ",\"device_nanos\":%.1f}\n",
            mode, plan.bytes, plan.graph, figures.operations, figures.nanos, figures.median_nanos, figures.device_nanos);
    return fflush(stdout) == 0 ? 0 : STATUS_FAILED;
}

int main(int count, char **arguments) {
    struct plan plan = {.pages = 1};
    enum sharing sharing = BY_DESCRIPTOR;
    uint64_t blocks = 0;
    if (count > 1 && strcmp(arguments[1], "--handle") == 0) {
        sharing = BY_HANDLE;
        count--;
        arguments++;
    }
    const char *mode = count > 1 ? arguments[1] : "";
    struct collective_plan collective = {.bytes = 0};
    if (count == 6 && collective_of(mode, &collective.collective)) {
        return measure_collective(mode, arguments + 2, collective);
    }
    if (count == 6 && number(arguments[2], 1, MAXIMUM_BYTES, &plan.bytes) && read_rest(arguments + 3, &plan)) {
        if (strcmp(mode, "copy") == 0) {
            return print(mode, &plan, copy_measure(&plan, sharing));
        }
        if (strcmp(mode, "to-device") == 0 || strcmp(mode, "from-device") == 0) {
            return print(mode, &plan, host_copy_measure(&plan, strcmp(mode, "to-device") == 0));
        }
        if (strcmp(mode, "both-ways") == 0) {
            return print(mode, &plan, both_ways_measure(&plan));
        }
        if (strcmp(mode, "nccl") == 0) {
            return print(mode, &plan, nccl_measure(&plan));
        }
        return usage();
    }
    bool is_kernel = count == 9 && strcmp(mode, "pages-kernel") == 0;
    bool is_batch = strcmp(mode, "pages-batch") == 0;
    char **rest = is_kernel ? arguments + 4 : arguments + 2;
    if ((is_kernel && number(arguments[3], 1, MAXIMUM_BLOCKS, &blocks))
            || (count == 7 && (is_batch || strcmp(mode, "pages-copies") == 0))) {
        if (number(rest[0], 1, MAXIMUM_BYTES, &plan.bytes) && number(rest[1], 1, MAXIMUM_PAGES, &plan.pages)
                && number(rest[0], 1, MAXIMUM_BYTES / plan.pages, &plan.bytes) && read_rest(rest + 2, &plan)) {
            enum way way = is_kernel ? KERNEL : is_batch ? BATCH : COPIES;
            return print(mode, &plan, pages_measure(&plan, sharing, way, arguments[2], (unsigned)blocks));
        }
    }
    return usage();
}
