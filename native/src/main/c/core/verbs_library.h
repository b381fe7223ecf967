/*
 * The functions of libibverbs that must be resolved, and declarations shared by the files of verbs. The shim is not
 * linked to libibverbs: inline functions of its header that call others by name must not be used, which the linker
 * checks (-z defs). Posting, polling and requesting notifications go through the device's own table and are called
 * directly.
 */
#ifndef VERBS_LIBRARY_H
#define VERBS_LIBRARY_H

#include "sluice_verbs.h"

#include <infiniband/verbs.h>

/* FUNCTION(member name, symbol name) for each function that every version has. */
#define VERBS_FUNCTIONS(FUNCTION) \
    FUNCTION(get_device_list, ibv_get_device_list) \
    FUNCTION(free_device_list, ibv_free_device_list) \
    FUNCTION(get_device_name, ibv_get_device_name) \
    FUNCTION(open_device, ibv_open_device) \
    FUNCTION(close_device, ibv_close_device) \
    FUNCTION(query_device, ibv_query_device) \
    FUNCTION(query_port, ibv_query_port) \
    FUNCTION(query_gid, ibv_query_gid) \
    FUNCTION(get_async_event, ibv_get_async_event) \
    FUNCTION(ack_async_event, ibv_ack_async_event) \
    FUNCTION(alloc_pd, ibv_alloc_pd) \
    FUNCTION(dealloc_pd, ibv_dealloc_pd) \
    FUNCTION(reg_mr, ibv_reg_mr) \
    FUNCTION(dereg_mr, ibv_dereg_mr) \
    FUNCTION(create_comp_channel, ibv_create_comp_channel) \
    FUNCTION(destroy_comp_channel, ibv_destroy_comp_channel) \
    FUNCTION(create_cq, ibv_create_cq) \
    FUNCTION(destroy_cq, ibv_destroy_cq) \
    FUNCTION(get_cq_event, ibv_get_cq_event) \
    FUNCTION(ack_cq_events, ibv_ack_cq_events) \
    FUNCTION(wc_status_str, ibv_wc_status_str) \
    FUNCTION(create_srq, ibv_create_srq) \
    FUNCTION(query_srq, ibv_query_srq) \
    FUNCTION(destroy_srq, ibv_destroy_srq) \
    FUNCTION(create_qp, ibv_create_qp) \
    FUNCTION(modify_qp, ibv_modify_qp) \
    FUNCTION(query_qp, ibv_query_qp) \
    FUNCTION(destroy_qp, ibv_destroy_qp)

/* ... and for each that older versions lack, where the member is NULL. */
#define VERBS_NEWER_FUNCTIONS(FUNCTION) \
    FUNCTION(reg_mr_iova2, ibv_reg_mr_iova2) \
    FUNCTION(reg_dmabuf_mr, ibv_reg_dmabuf_mr) \
    FUNCTION(query_gid_ex, _ibv_query_gid_ex)

struct verbs_library {
#define VERBS_MEMBER(name, symbol) __typeof__(symbol) *name;
    VERBS_FUNCTIONS(VERBS_MEMBER)
    VERBS_NEWER_FUNCTIONS(VERBS_MEMBER)
#undef VERBS_MEMBER
};

/* Complete once sluice_verbs_loaded(), and constant afterwards. The holder of a handle has loaded it. */
extern struct verbs_library verbs;

static inline bool verbs_is_record(const void *record) {
    return record != NULL && (uintptr_t)record % 8 == 0;
}

static inline bool verbs_is_within(int value, int minimum, int maximum) {
    return value >= minimum && value <= maximum;
}

/*
 * Functions of libibverbs return the error number, or -1 with errno, and some drivers the negated number. Set errno to
 * 0 before the call, so that its value afterwards belongs to it.
 */
static inline int verbs_result(int result) {
    if (result == -1) {
        return errno > 0 ? -errno : -EIO;
    }
    return result > 0 ? -result : result;
}

/* The same for functions that return a pointer. Addresses of user space are positive. */
static inline int64_t verbs_handle(const void *object) {
    if (object == NULL) {
        return errno > 0 ? -errno : -EIO;
    }
    return (int64_t)(intptr_t)object;
}

/* Converts SLUICE_VERBS_... flags to libibverbs's, or returns -EINVAL. */
int verbs_access(int access);

/* Makes a descriptor opened by libibverbs non-blocking. */
int verbs_set_non_blocking(int descriptor);

#endif
