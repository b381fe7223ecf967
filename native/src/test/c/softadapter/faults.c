#include "adapter.h"

atomic_uint_fast64_t fault_delay;
atomic_bool fault_dma_buffers;

static void tell_contexts(struct device *device, enum ibv_event_type type) {
    for (struct context *context = device->contexts; context != NULL; context = context->next) {
        async_event_put(&context->verbs.context, NULL, type, &context->port_events_taken);
    }
}

EXPORT int soft_adapter_port(int index, int up) {
    struct device *device = device_at(index);
    if (device == NULL) {
        return ENODEV;
    }
    world_write();
    if (atomic_exchange(&device->port_up, up != 0) != (up != 0)) {
        tell_contexts(device, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
    }
    world_release();
    return 0;
}

EXPORT int soft_adapter_remove(int index) {
    struct device *device = device_at(index);
    if (device == NULL) {
        return ENODEV;
    }
    world_write();
    if (!atomic_exchange(&device->removed, true)) {
        for (struct context *context = device->contexts; context != NULL; context = context->next) {
            atomic_store(&context->dead, true);
        }
        tell_contexts(device, IBV_EVENT_DEVICE_FATAL);
        queue_pairs_of_device(device, queue_pair_fail);
    }
    world_release();
    return 0;
}

EXPORT int soft_adapter_insert(int index) {
    struct device *device = device_at(index);
    if (device == NULL) {
        return ENODEV;
    }
    atomic_store(&device->removed, false);
    return 0;
}

static void hurry(void) {
    world_read();
    for (int i = 0; i < MAXIMUM_DEVICES; i++) {
        /* Only an open device has a worker. */
        if (devices[i].contexts != NULL) {
            worker_hurry(&devices[i].worker);
        }
    }
    world_release();
}

EXPORT void soft_adapter_delay(uint64_t nanoseconds) {
    /* Sets the devices up, which would otherwise take the environment's delay later. */
    device_at(0);
    atomic_store(&fault_delay, nanoseconds);
    hurry();
}

EXPORT void soft_adapter_refuse_dma_buffers(int refuse) {
    atomic_store(&fault_dma_buffers, refuse != 0);
}

EXPORT int soft_adapter_lose_answers(int index, int lose) {
    struct device *device = device_at(index);
    if (device == NULL) {
        return ENODEV;
    }
    atomic_store(&device->loses_answers, lose != 0);
    return 0;
}

EXPORT int soft_adapter_hold_answers(int index, uint64_t nanoseconds) {
    struct device *device = device_at(index);
    if (device == NULL) {
        return ENODEV;
    }
    atomic_store(&device->holds_answers, nanoseconds);
    hurry();
    return 0;
}

EXPORT int soft_adapter_break_queue_pair(uint32_t number) {
    world_write();
    struct queue_pair *pair = queue_pair_with_number(number);
    if (pair != NULL) {
        queue_pair_break(pair, IBV_EVENT_QP_FATAL);
    }
    world_release();
    return pair == NULL ? ENOENT : 0;
}
