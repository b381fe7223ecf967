#include "adapter.h"

#include <stdio.h>
#include <stdlib.h>

struct device devices[MAXIMUM_DEVICES];

/* Guards the table's setting up, and which devices are open. */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static bool set_up;

static void set_up_devices(void) {
    if (set_up) {
        return;
    }
    for (int i = 0; i < MAXIMUM_DEVICES; i++) {
        struct device *device = &devices[i];
        device->index = i;
        device->base.node_type = IBV_NODE_CA;
        device->base.transport_type = IBV_TRANSPORT_IB;
        snprintf(device->base.name, sizeof device->base.name, "soft%d", i);
        snprintf(device->base.dev_name, sizeof device->base.dev_name, "uverbs-soft%d", i);
        snprintf(device->base.dev_path, sizeof device->base.dev_path, "/nonexistent/uverbs-soft%d", i);
        snprintf(device->base.ibdev_path, sizeof device->base.ibdev_path, "/nonexistent/soft%d", i);
        atomic_store(&device->port_up, !settings_port_down(i));
    }
    atomic_store(&fault_delay, settings_delay());
    set_up = true;
}

struct device *device_at(int index) {
    if (index < 0 || index >= MAXIMUM_DEVICES) {
        return NULL;
    }
    pthread_mutex_lock(&devices_lock);
    set_up_devices();
    pthread_mutex_unlock(&devices_lock);
    return &devices[index];
}

EXPORT struct ibv_device **ibv_get_device_list(int *count) {
    struct ibv_device **list = calloc(MAXIMUM_DEVICES + 1, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    int listed = 0;
    int wanted = settings_devices();
    pthread_mutex_lock(&devices_lock);
    set_up_devices();
    for (int i = 0; i < wanted; i++) {
        if (!atomic_load(&devices[i].removed)) {
            list[listed++] = &devices[i].base;
        }
    }
    pthread_mutex_unlock(&devices_lock);
    if (count != NULL) {
        *count = listed;
    }
    return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list) {
    free(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *device) {
    return device->name;
}

static void set_operations(struct context *context) {
    bool null_mode = context->settings.null_mode;
    struct verbs_context *verbs = &context->verbs;
    verbs->sz = sizeof *verbs;
    verbs->query_device_ex = attributes_query_device;
    verbs->query_port = attributes_query_port;
    struct ibv_context_ops *operations = &verbs->context.ops;
    operations->poll_cq = null_mode ? null_mode_poll : completion_queue_poll;
    operations->req_notify_cq = completion_queue_arm;
    operations->post_send = null_mode ? null_mode_post_send : send_queue_post;
    operations->post_recv = null_mode ? null_mode_post_receive : queue_pair_post_receive;
    operations->post_srq_recv = null_mode ? null_mode_post_shared_receive : shared_receive_queue_post;
}

static int open_context(struct device *device, struct context *context) {
    if (atomic_load(&device->removed)) {
        return ENODEV;
    }
    int result = event_queue_open(&context->events);
    if (result != 0) {
        return result;
    }
    settings_read(&context->settings);
    if (device->open_contexts == 0) {
        result = worker_start(&device->worker, device->index);
        if (result != 0) {
            event_queue_close(&context->events);
            return result;
        }
    }
    device->open_contexts++;
    context->device = device;
    set_operations(context);
    struct ibv_context *base = &context->verbs.context;
    base->device = &device->base;
    base->cmd_fd = -1;
    base->async_fd = context->events.fd;
    base->num_comp_vectors = 1;
    base->abi_compat = __VERBS_ABI_IS_EXTENDED;
    pthread_mutex_init(&base->mutex, NULL);
    world_write();
    context->next = device->contexts;
    device->contexts = context;
    world_release();
    return 0;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *base) {
    struct device *device = container_of(base, struct device, base);
    struct context *context = calloc(1, sizeof *context);
    if (context == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    pthread_mutex_lock(&devices_lock);
    int result = open_context(device, context);
    pthread_mutex_unlock(&devices_lock);
    if (result != 0) {
        free(context);
        errno = result;
        return NULL;
    }
    COUNT(contexts, 1);
    return &context->verbs.context;
}

EXPORT int ibv_close_device(struct ibv_context *base) {
    struct context *context = context_of(base);
    struct device *device = context->device;
    if (atomic_load(&context->objects) != 0) {
        errno = EBUSY;
        return -1;
    }
    pthread_mutex_lock(&devices_lock);
    world_write();
    struct context **link = &device->contexts;
    while (*link != context) {
        link = &(*link)->next;
    }
    *link = context->next;
    world_release();
    if (--device->open_contexts == 0) {
        worker_stop(&device->worker);
    }
    pthread_mutex_unlock(&devices_lock);
    event_queue_close(&context->events);
    pthread_mutex_destroy(&base->mutex);
    free(context);
    COUNT(contexts, -1);
    return 0;
}
