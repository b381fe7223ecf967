/*
 * The stand-in for a DMA buffer of the kernel between the software GPU and the software adapter: a socket in which one
 * message waits, with the descriptor of the memory and the range of it that the buffer is. A look at the message leaves it.
 */
#ifndef DMA_BUFFER_H
#define DMA_BUFFER_H

#include <stdint.h>

struct dma_range {
    uint64_t offset;
    uint64_t bytes;
};

#endif
