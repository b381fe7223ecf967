#include "io_sluice_jni_VerbsReceiveQueue.h"
#include "jni_support.h"
#include "sluice_verbs.h"

#define SAME(constant, value) SAME_IN(VerbsReceiveQueue, constant, value)
#define OFFSET(constant, member) SAME(constant, offsetof(struct sluice_verbs_receive_request, member))

SAME(RECORD_BYTES, sizeof(struct sluice_verbs_receive_request));
OFFSET(RECORD_ID_OFFSET, id);
OFFSET(RECORD_ADDRESS_OFFSET, address);
OFFSET(RECORD_LENGTH_OFFSET, length);
OFFSET(RECORD_LOCAL_KEY_OFFSET, local_key);

JNIEXPORT jlong JNICALL Java_io_sluice_jni_VerbsReceiveQueue_create(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong domain, jint work_requests) {
    return sluice_verbs_receive_queue_create(sluice_pointer(domain), work_requests);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsReceiveQueue_depth(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue) {
    return sluice_verbs_receive_queue_depth(sluice_pointer(queue));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsReceiveQueue_post(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue, jlong records, jint count) {
    return sluice_verbs_receive_queue_post(sluice_pointer(queue), sluice_pointer(records), count);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsReceiveQueue_destroy(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong queue) {
    return sluice_verbs_receive_queue_destroy(sluice_pointer(queue));
}
