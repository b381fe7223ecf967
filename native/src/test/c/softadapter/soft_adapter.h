/*
 * A network adapter in software: a library with the interface of libibverbs, whose devices live in one process and
 * reach each other and themselves. It needs no kernel driver and no hardware. This header declares what it has beyond
 * libibverbs: faults and counters for tests.
 *
 * It is stricter than most hardware, so that a careless client is caught:
 * - depths of queues are exactly those asked for;
 * - local and remote keys of a region differ, and a slot's keys change each time it is used again;
 * - the fields of a completion that are not defined are filled with 0xA5;
 * - arming a completion queue gives no event for completions that are already there;
 * - a device is not closed (EBUSY) while anything of it is left;
 * - posting to a full queue fails until a completion of it has been polled.
 *
 * Memory is not pinned: to unmap a region before it is deregistered ends the process.
 *
 * Environment. The number of devices is read by each ibv_get_device_list; ports and delay by the first call of the
 * library; the others by ibv_open_device, for what is opened:
 *
 *   SOFT_ADAPTER_DEVICES          number of devices, 0 to 8; 2 unless told otherwise
 *   SOFT_ADAPTER_PORTS_DOWN       devices whose port is down at first, as in "0,2"
 *   SOFT_ADAPTER_DELAY_NANOS      see soft_adapter_delay
 *   SOFT_ADAPTER_LOCKED_BYTES     how much memory may be registered over all devices; more gives ENOMEM
 *   SOFT_ADAPTER_QUEUE_PAIRS      how many queue pairs a device has; more gives ENOMEM
 *   SOFT_ADAPTER_SCATTER          how many pieces of memory a request may have, 1 to 30; 30 unless told otherwise
 *   SOFT_ADAPTER_ELEMENTS         how many pieces a send queue holds for all its requests together; more gives ENOMEM
 *   SOFT_ADAPTER_NULL             1: nothing is moved. Posting counts, and polling gives a successful completion for
 *                                 each signalled request. For measuring a client's own cost; one thread at a time
 *                                 uses a completion queue, and counts are only right when no other thread works.
 */
#ifndef SOFT_ADAPTER_H
#define SOFT_ADAPTER_H

#include <stdint.h>

/*
 * Takes a device's port down (0) or up. While it is down nothing goes in or out, not even from the device to itself:
 * work ends with IBV_WC_RETRY_EXC_ERR when the queue pair's retries are used up. Gives 0, or ENODEV.
 */
int soft_adapter_port(int device, int up);

/*
 * Pulls a device out: all its queue pairs go to the error state, and of what is open no object can be made any more.
 * Gives 0, or ENODEV.
 */
int soft_adapter_remove(int device);

/* Plugs a device in again. Open objects stay dead. Gives 0, or ENODEV. */
int soft_adapter_insert(int device);

/* How long each work request takes at least, from when it is the first of its queue pair; 0 lets those that wait go. */
void soft_adapter_delay(uint64_t nanoseconds);

/* No device takes a DMA buffer: EOPNOTSUPP. */
void soft_adapter_refuse_dma_buffers(int refuse);

/*
 * While it is on, the requests of a device's queue pairs are carried out at their targets as ever, but no answer comes
 * back, so that the source cannot know. When a queue pair's retries are used up the oldest request fails with
 * IBV_WC_RETRY_EXC_ERR, and the others, though they have been carried out too, are flushed. When it is off again in
 * time, the next retry is answered. Gives 0, or ENODEV.
 */
int soft_adapter_lose_answers(int device, int lose);

/*
 * While it is not 0, no request of a device's queue pairs is completed before the queue pair fails. Requests executed
 * by then are reported so many nanoseconds later, and the rest flushed: as by an adapter that reports late.
 * Gives 0, or ENODEV.
 */
int soft_adapter_hold_answers(int device, uint64_t nanoseconds);

/* Breaks a queue pair, as a fault of the adapter does: error state and IBV_EVENT_QP_FATAL. Gives 0, or ENOENT. */
int soft_adapter_break_queue_pair(uint32_t number);

/*
 * A counter by its name; -1 for an unknown one. Since the start or the last reset: doorbells (calls that posted send
 * work), posts (send requests), receives (receive requests posted), polls (calls), completions (polled), executed
 * (requests carried out), bytes (moved), registrations, events (of completion channels), async_events, retries,
 * receiver_not_ready, overflows (of completion queues). At present: contexts, domains, regions, region_bytes,
 * completion_queues, channels, receive_queues, queue_pairs.
 */
int64_t soft_adapter_counter(const char *name);

/* How many bytes the requests of a device's queue pairs have moved, in either direction; -1 if there is no such device. */
int64_t soft_adapter_bytes(int device);

/* Sets those that count since the start to 0. */
void soft_adapter_reset_counters(void);

#endif
