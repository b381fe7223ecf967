#include "io_sluice_jni_VerbsCompletionQueue.h"
#include "jni_support.h"
#include "sluice_verbs.h"

#include <infiniband/verbs.h>

#define SAME(constant, value) SAME_IN(VerbsCompletionQueue, constant, value)
#define OFFSET(constant, member) SAME(constant, offsetof(struct sluice_verbs_completion, member))

SAME(RECORD_BYTES, sizeof(struct sluice_verbs_completion));
OFFSET(RECORD_ID_OFFSET, id);
OFFSET(RECORD_STATUS_OFFSET, status);
OFFSET(RECORD_VENDOR_ERROR_OFFSET, vendor_error);
OFFSET(RECORD_BYTES_OFFSET, bytes);
OFFSET(RECORD_QUEUE_PAIR_NUMBER_OFFSET, queue_pair_number);
OFFSET(RECORD_OPCODE_OFFSET, opcode);
OFFSET(RECORD_IMMEDIATE_OFFSET, immediate);

SAME(SEND, IBV_WC_SEND);
SAME(WRITE, IBV_WC_RDMA_WRITE);
SAME(READ, IBV_WC_RDMA_READ);
SAME(COMPARE_AND_SWAP, IBV_WC_COMP_SWAP);
SAME(FETCH_ADD, IBV_WC_FETCH_ADD);
SAME(RECEIVE, IBV_WC_RECV);
SAME(RECEIVE_RDMA_WITH_IMMEDIATE, IBV_WC_RECV_RDMA_WITH_IMM);

SAME(SUCCESS, IBV_WC_SUCCESS);
SAME(LOCAL_LENGTH_ERROR, IBV_WC_LOC_LEN_ERR);
SAME(LOCAL_QUEUE_PAIR_OPERATION_ERROR, IBV_WC_LOC_QP_OP_ERR);
SAME(LOCAL_PROTECTION_ERROR, IBV_WC_LOC_PROT_ERR);
SAME(FLUSHED, IBV_WC_WR_FLUSH_ERR);
SAME(BAD_RESPONSE_ERROR, IBV_WC_BAD_RESP_ERR);
SAME(LOCAL_ACCESS_ERROR, IBV_WC_LOC_ACCESS_ERR);
SAME(REMOTE_INVALID_REQUEST_ERROR, IBV_WC_REM_INV_REQ_ERR);
SAME(REMOTE_ACCESS_ERROR, IBV_WC_REM_ACCESS_ERR);
SAME(REMOTE_OPERATION_ERROR, IBV_WC_REM_OP_ERR);
SAME(RETRIES_EXCEEDED, IBV_WC_RETRY_EXC_ERR);
SAME(RECEIVER_NOT_READY_RETRIES_EXCEEDED, IBV_WC_RNR_RETRY_EXC_ERR);
SAME(REMOTE_ABORTED_ERROR, IBV_WC_REM_ABORT_ERR);
SAME(FATAL_ERROR, IBV_WC_FATAL_ERR);
SAME(RESPONSE_TIMEOUT_ERROR, IBV_WC_RESP_TIMEOUT_ERR);
SAME(GENERAL_ERROR, IBV_WC_GENERAL_ERR);

JNIEXPORT jlong JNICALL Java_io_sluice_jni_VerbsCompletionQueue_createChannel(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_verbs_channel_create(sluice_pointer(device));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsCompletionQueue_channelDescriptor(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong channel) {
    return sluice_verbs_channel_descriptor(sluice_pointer(channel));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsCompletionQueue_destroyChannel(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong channel) {
    return sluice_verbs_channel_destroy(sluice_pointer(channel));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_VerbsCompletionQueue_create(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jint entries, jlong channel) {
    return sluice_verbs_completion_queue_create(sluice_pointer(device), entries, sluice_pointer(channel));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsCompletionQueue_entries(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue) {
    return sluice_verbs_completion_queue_entries(sluice_pointer(queue));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsCompletionQueue_destroy(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue) {
    return sluice_verbs_completion_queue_destroy(sluice_pointer(queue));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsCompletionQueue_poll(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue, jlong records, jint maximum) {
    return sluice_verbs_completion_queue_poll(sluice_pointer(queue), sluice_pointer(records), maximum);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsCompletionQueue_requestNotification(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue) {
    return sluice_verbs_completion_queue_request_notification(sluice_pointer(queue));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsCompletionQueue_takeEvents(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong channel, jlong queue) {
    return sluice_verbs_completion_queue_take_events(sluice_pointer(channel), sluice_pointer(queue));
}

JNIEXPORT jstring JNICALL Java_io_sluice_jni_VerbsCompletionQueue_statusText(
        JNIEnv *env, UNUSED jclass type, jint status) {
    return (*env)->NewStringUTF(env, sluice_verbs_status_text(status));
}
