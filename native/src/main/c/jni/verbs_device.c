#include "io_sluice_jni_VerbsDevice.h"
#include "jni_support.h"
#include "sluice_verbs.h"

#include <infiniband/verbs.h>
#include <string.h>

#define SAME(constant, value) SAME_IN(VerbsDevice, constant, value)
#define OFFSET(constant, record, member) SAME(constant, offsetof(struct sluice_verbs_##record##_record, member))

SAME(DEVICE_BYTES, sizeof(struct sluice_verbs_device_record));
OFFSET(DEVICE_MAX_REGION_BYTES_OFFSET, device, max_region_bytes);
OFFSET(DEVICE_NODE_GUID_OFFSET, device, node_guid);
OFFSET(DEVICE_MAX_QUEUE_PAIRS_OFFSET, device, max_queue_pairs);
OFFSET(DEVICE_MAX_QUEUE_PAIR_WORK_REQUESTS_OFFSET, device, max_queue_pair_work_requests);
OFFSET(DEVICE_MAX_SGE_OFFSET, device, max_sge);
OFFSET(DEVICE_MAX_COMPLETION_QUEUES_OFFSET, device, max_completion_queues);
OFFSET(DEVICE_MAX_COMPLETION_QUEUE_ENTRIES_OFFSET, device, max_completion_queue_entries);
OFFSET(DEVICE_MAX_REGIONS_OFFSET, device, max_regions);
OFFSET(DEVICE_MAX_READ_DEPTH_AS_TARGET_OFFSET, device, max_read_depth_as_target);
OFFSET(DEVICE_MAX_READ_DEPTH_AS_INITIATOR_OFFSET, device, max_read_depth_as_initiator);
OFFSET(DEVICE_MAX_SHARED_RECEIVE_QUEUES_OFFSET, device, max_shared_receive_queues);
OFFSET(DEVICE_MAX_SHARED_RECEIVE_QUEUE_WORK_REQUESTS_OFFSET, device, max_shared_receive_queue_work_requests);
OFFSET(DEVICE_PORTS_OFFSET, device, ports);
OFFSET(DEVICE_ATOMICS_OFFSET, device, atomics);
OFFSET(DEVICE_ON_DEMAND_PAGING_OFFSET, device, on_demand_paging);
OFFSET(DEVICE_VENDOR_ID_OFFSET, device, vendor_id);
OFFSET(DEVICE_VENDOR_PART_ID_OFFSET, device, vendor_part_id);
OFFSET(DEVICE_MAX_SGE_OF_READS_OFFSET, device, max_sge_of_reads);

SAME(ON_DEMAND_SEND, IBV_ODP_SUPPORT_SEND);
SAME(ON_DEMAND_RECEIVE, IBV_ODP_SUPPORT_RECV);
SAME(ON_DEMAND_WRITE, IBV_ODP_SUPPORT_WRITE);
SAME(ON_DEMAND_READ, IBV_ODP_SUPPORT_READ);
SAME(ON_DEMAND_ATOMIC, IBV_ODP_SUPPORT_ATOMIC);
SAME(ON_DEMAND_SHARED_RECEIVE, IBV_ODP_SUPPORT_SRQ_RECV);

SAME(PORT_BYTES, sizeof(struct sluice_verbs_port_record));
OFFSET(PORT_MAX_MESSAGE_BYTES_OFFSET, port, max_message_bytes);
OFFSET(PORT_STATE_OFFSET, port, state);
OFFSET(PORT_ACTIVE_MTU_BYTES_OFFSET, port, active_mtu_bytes);
OFFSET(PORT_MAX_MTU_BYTES_OFFSET, port, max_mtu_bytes);
OFFSET(PORT_LID_OFFSET, port, lid);
OFFSET(PORT_LINK_LAYER_OFFSET, port, link_layer);
OFFSET(PORT_GID_TABLE_LENGTH_OFFSET, port, gid_table_length);
OFFSET(PORT_ACTIVE_WIDTH_OFFSET, port, active_width);
OFFSET(PORT_ACTIVE_SPEED_OFFSET, port, active_speed);
OFFSET(PORT_SUBNET_MANAGER_LID_OFFSET, port, subnet_manager_lid);

SAME(PORT_DOWN, IBV_PORT_DOWN);
SAME(PORT_INITIALISING, IBV_PORT_INIT);
SAME(PORT_ARMED, IBV_PORT_ARMED);
SAME(PORT_ACTIVE, IBV_PORT_ACTIVE);
SAME(PORT_ACTIVE_DEFER, IBV_PORT_ACTIVE_DEFER);
SAME(LINK_INFINIBAND, IBV_LINK_LAYER_INFINIBAND);
SAME(LINK_ETHERNET, IBV_LINK_LAYER_ETHERNET);

SAME(GID_BYTES, sizeof(struct sluice_verbs_gid_record));
OFFSET(GID_ADDRESS_OFFSET, gid, gid);
OFFSET(GID_TYPE_OFFSET, gid, type);
SAME(GID_UNKNOWN, SLUICE_VERBS_GID_UNKNOWN);
SAME(GID_INFINIBAND, SLUICE_VERBS_GID_INFINIBAND);
SAME(GID_ROCE_V1, SLUICE_VERBS_GID_ROCE_V1);
SAME(GID_ROCE_V2, SLUICE_VERBS_GID_ROCE_V2);

SAME(EVENT_BYTES, sizeof(struct sluice_verbs_event_record));
OFFSET(EVENT_TYPE_OFFSET, event, type);
OFFSET(EVENT_PORT_OFFSET, event, port);
OFFSET(EVENT_HANDLE_OFFSET, event, handle);
OFFSET(EVENT_QUEUE_PAIR_NUMBER_OFFSET, event, queue_pair_number);
SAME(EVENT_COMPLETION_QUEUE_ERROR, IBV_EVENT_CQ_ERR);
SAME(EVENT_QUEUE_PAIR_FATAL, IBV_EVENT_QP_FATAL);
SAME(EVENT_QUEUE_PAIR_REQUEST_ERROR, IBV_EVENT_QP_REQ_ERR);
SAME(EVENT_QUEUE_PAIR_ACCESS_ERROR, IBV_EVENT_QP_ACCESS_ERR);
SAME(EVENT_COMMUNICATION_ESTABLISHED, IBV_EVENT_COMM_EST);
SAME(EVENT_SEND_QUEUE_DRAINED, IBV_EVENT_SQ_DRAINED);
SAME(EVENT_PATH_MIGRATED, IBV_EVENT_PATH_MIG);
SAME(EVENT_PATH_MIGRATION_ERROR, IBV_EVENT_PATH_MIG_ERR);
SAME(EVENT_DEVICE_FATAL, IBV_EVENT_DEVICE_FATAL);
SAME(EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ACTIVE);
SAME(EVENT_PORT_ERROR, IBV_EVENT_PORT_ERR);
SAME(EVENT_LID_CHANGE, IBV_EVENT_LID_CHANGE);
SAME(EVENT_PARTITION_KEY_CHANGE, IBV_EVENT_PKEY_CHANGE);
SAME(EVENT_SUBNET_MANAGER_CHANGE, IBV_EVENT_SM_CHANGE);
SAME(EVENT_SHARED_RECEIVE_QUEUE_ERROR, IBV_EVENT_SRQ_ERR);
SAME(EVENT_SHARED_RECEIVE_QUEUE_LIMIT_REACHED, IBV_EVENT_SRQ_LIMIT_REACHED);
SAME(EVENT_LAST_WORK_REQUEST_REACHED, IBV_EVENT_QP_LAST_WQE_REACHED);
SAME(EVENT_CLIENT_REREGISTER, IBV_EVENT_CLIENT_REREGISTER);
SAME(EVENT_GID_CHANGE, IBV_EVENT_GID_CHANGE);

/* Stores a name in an array element as bytes; returns false with a pending exception. */
static bool set_name(JNIEnv *env, jobjectArray names, jsize index, const char *name) {
    jsize length = (jsize)strlen(name);
    jbyteArray bytes = (*env)->NewByteArray(env, length);
    if (bytes == NULL) {
        return false;
    }
    (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)name);
    (*env)->SetObjectArrayElement(env, names, index, bytes);
    (*env)->DeleteLocalRef(env, bytes);
    return !(*env)->ExceptionCheck(env);
}

JNIEXPORT jobjectArray JNICALL Java_io_sluice_jni_VerbsDevice_list(JNIEnv *env, UNUSED jclass type) {
    void **list = sluice_verbs_device_list();
    jsize count = 0;
    while (list != NULL && list[count] != NULL) {
        count++;
    }
    jclass bytes = (*env)->FindClass(env, "[B");
    jobjectArray names = bytes == NULL ? NULL : (*env)->NewObjectArray(env, count, bytes, NULL);
    for (jsize i = 0; names != NULL && i < count; i++) {
        const char *name = sluice_verbs_device_name(list[i]);
        if (!set_name(env, names, i, name == NULL ? "" : name)) {
            break;
        }
    }
    if (list != NULL) {
        sluice_verbs_free_device_list(list);
    }
    return names;
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_VerbsDevice_openNamed(JNIEnv *env, UNUSED jclass type, jbyteArray name) {
    char text[IBV_SYSFS_NAME_MAX] = "";
    jsize length = name == NULL ? 0 : (*env)->GetArrayLength(env, name);
    if (length < 1 || length >= (jsize)sizeof text) {
        return -ENODEV;
    }
    (*env)->GetByteArrayRegion(env, name, 0, length, (jbyte *)text);
    return sluice_verbs_device_open(text);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsDevice_close(UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_verbs_device_close(sluice_pointer(device));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsDevice_query(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong record) {
    return sluice_verbs_device_query(sluice_pointer(device), sluice_pointer(record));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsDevice_queryPort(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jint port, jlong record) {
    return sluice_verbs_device_query_port(sluice_pointer(device), port, sluice_pointer(record));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsDevice_queryGid(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jint port, jint index, jlong record) {
    return sluice_verbs_device_query_gid(sluice_pointer(device), port, index, sluice_pointer(record));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsDevice_asyncDescriptor(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_verbs_device_async_descriptor(sluice_pointer(device));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsDevice_nextAsyncEvent(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong record) {
    return sluice_verbs_device_next_async_event(sluice_pointer(device), sluice_pointer(record));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_VerbsDevice_allocateProtectionDomain(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_verbs_domain_allocate(sluice_pointer(device));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsDevice_freeProtectionDomain(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong domain) {
    return sluice_verbs_domain_free(sluice_pointer(domain));
}
