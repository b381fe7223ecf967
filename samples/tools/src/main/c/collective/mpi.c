#include "arguments.h"
#include "collective.h"

#include <mpi.h>
#include <stdio.h>

/* Errors end all ranks: that is what MPI does unless it is asked for something else. */
static void all_reduce(const float *source, float *target, size_t count) {
    MPI_Allreduce(source, target, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

static int64_t agreed(int64_t number) {
    MPI_Bcast(&number, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return number;
}

static int64_t greatest(int64_t number) {
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return number;
}

int main(int count, char **arguments) {
    struct plan plan;
    if (count != 6) {
        fputs("usage: MODE SIZE PROCESSORS WARMUP_MS DURATION_MS, with MODE allreduce or barrier\n", stderr);
        return STATUS_USAGE;
    }
    if (!plan_parse(arguments + 1, launched_rank(), &plan)) {
        return STATUS_USAGE;
    }
    MPI_Init(&count, &arguments);
    struct library library = {.all_reduce = all_reduce, .barrier = barrier, .agreed = agreed, .greatest = greatest};
    MPI_Comm_rank(MPI_COMM_WORLD, &library.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &library.ranks);
    int status = measure(&plan, &library);
    MPI_Finalize();
    return status;
}
