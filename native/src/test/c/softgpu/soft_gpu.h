/*
 * The software GPU: a libcuda.so.1 for tests, with what it has beyond the driver API.
 *
 * Device memory lies in memfds, so that handles and descriptors work between processes. Its addresses are in a range that the host
 * cannot touch; the bytes are mapped elsewhere. Each stream has a thread. Kernels run as their twins in C (kernels.c).
 *
 * Variables of the environment:
 *   SOFT_GPU_DEVICES       how many GPUs there are, 1 to 8; 2 if not set
 *   CUDA_VISIBLE_DEVICES   which of them this process sees, in which order: numbers, or GPU-... ids
 *   SOFT_GPU_NO_PEERS      if set, no GPU reaches another's memory
 *   SOFT_GPU_MEMORY        bytes of each GPU; 64 GiB if not set, of which what is touched is used
 *   SOFT_GPU_DELAY_NANOS   the longest random delay before each operation of a stream
 */
#ifndef SOFT_GPU_H
#define SOFT_GPU_H

#include <stdint.h>

/* The longest random delay before each operation. */
void soft_gpu_delay(uint64_t nanoseconds);
/* Streams do nothing, until they are let go on. */
void soft_gpu_hang(int hang);
/* So many more operations of streams are carried out, then one fails with an illegal address; -1 for none. */
void soft_gpu_fault_after(int64_t operations);
/* Whether GPUs reach each other's memory; what is mapped stays. */
void soft_gpu_peers(int on);
/* Opening handles and descriptors of other processes fails. */
void soft_gpu_refuse_import(int refuse);
/* The host's memory cannot be registered. */
void soft_gpu_refuse_pins(int refuse);
/* Modules are loaded, memory is unmapped and the host's registered once the kernels have ended that run, as drivers do. */
void soft_gpu_await_kernels(int on);
/* Later allocations come from a pool: no other process can open them, and no other GPU reaches them. */
void soft_gpu_pools(int on);
/* So many copies are taken, then so many refused as if memory had run out. */
void soft_gpu_refuse_copies(int64_t after, int64_t count);
/* No memory can be exported as a DMA buffer. */
void soft_gpu_refuse_dma_buffers(int refuse);
/*
 * Sets the attributes about writes of adapters: the scope in which they are ordered (0, none, at first; 100, the device) and
 * how they are flushed (bit 0, by the host, at first; bit 1, by a stream).
 */
void soft_gpu_rdma(int scope, int ways);
/* No GPU's atomic operations on another's memory are native. */
void soft_gpu_refuse_peer_atomics(int refuse);
/* Where the host finds the bytes that a GPU has at an address; NULL if it does not reach them all. */
void *soft_gpu_bytes(int ordinal, uint64_t address, uint64_t bytes);
/* The ordinal of the calling thread's GPU; -1 if it has none. */
int soft_gpu_current(void);
/*
 * Adds an operation to a stream, for libraries that bring kernels of their own: it is called again and again until it returns
 * something else than 0, and must neither wait nor call the driver. Returns 0 or the driver's error.
 */
int soft_gpu_poll(void *stream, int (*poll)(void *argument), void *argument);
/*
 * Counts objects: "allocations", "mappings", "streams", "events", "modules", "graphs" (instances), "registrations", "imports" (until now),
 * "launches" (until now), "copies" (until now), "crossings" (copies by one GPU of another's memory, until now), "flushes" (of adapters' writes, until now); -1 for another name.
 */
int64_t soft_gpu_count(const char *what);

#endif
