/*
 * Launches the kernels of a module by two ranks at once, on two GPUs or both on one, in a program of C alone, so that compute-sanitizer can
 * watch them. Each rank has a thread, in which all functions are called. The program ends with status 1 at the first thing that is not as it
 * should be.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include "cuda_api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANKS 2

struct rank;

/* A parameter of a kernel. */
struct parameter {
    const void *value;
    size_t bytes;
};

/* ---- what a module's driver gives ---- */

/* Its files of PTX; ends with NULL. */
extern const char *const module_files[];

/* What a rank does. Each entry of the files is to be launched. */
void run_rank(struct rank *rank);

/* ---- what it has for that ---- */

unsigned number_of(const struct rank *rank);

/* How long a kernel waits for the other rank's, in nanoseconds: sanitizers make both slow. */
uint64_t patience(void);

/* Ends the program. */
_Noreturn void fail(const struct rank *rank, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Memory of the rank's GPU, full of zeros. It stays. */
cuda_address device_memory(struct rank *rank, size_t bytes);

/* Memory of the host that the GPU reaches at an address, full of zeros. It stays. */
void *host_memory(struct rank *rank, size_t bytes, cuda_address *address);

void put(struct rank *rank, cuda_address to, const void *from, size_t bytes);

void get(struct rank *rank, void *to, cuda_address from, size_t bytes);

/* Fills memory with what no result is. */
void spoil(struct rank *rank, cuda_address at, size_t bytes);

/* Tells the other rank an address, and learns those of all. */
void share(struct rank *rank, cuda_address own, cuda_address *all);

/* Launches a kernel when the other rank has come so far, behind what the rank has launched before. Parameters end with one that has no value. */
void launch(
        struct rank *rank, const char *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,
        const struct parameter *parameters);

/* Waits until all that the rank has launched has ended. */
void await(struct rank *rank, const char *what);

/* Compares what memory of the GPU has with what it is to have. */
void expect(struct rank *rank, cuda_address at, const void *expected, size_t bytes, const char *what);

/* The same of memory of the host. */
void expect_here(struct rank *rank, const void *at, const void *expected, size_t bytes, const char *what);

/* ---- numbers ---- */

uint32_t bits_of(float value);

float float_of(uint32_t bits);

/* The nearest one, to even. */
uint16_t bfloat16_of(float value);

float float_of_bfloat16(uint16_t bits);

/* The same number for the same arguments, as random as is needed here. */
uint32_t mixed(uint32_t first, uint32_t second, uint32_t third);

#endif
