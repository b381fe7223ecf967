#include "io_sluice_jni_MachineFacts.h"
#include "io_sluice_jni_ThreadSchedule.h"
#include "jni_support.h"

#include <stddef.h>

#define SAME(constant, value) SAME_IN(ThreadSchedule, constant, value)

SAME(RECORD_BYTES, sizeof(struct sluice_thread_schedule));
SAME(RECORD_RAN_OFFSET, offsetof(struct sluice_thread_schedule, ran));
SAME(RECORD_WAITED_OFFSET, offsetof(struct sluice_thread_schedule, waited));

JNIEXPORT jint JNICALL Java_io_sluice_jni_MachineFacts_setThreadAffinity(
        UNUSED JNIEnv *env, UNUSED jclass type, jint cpu) {
    return sluice_thread_set_affinity(cpu);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_MachineFacts_availableMemoryBelow(
        JNIEnv *env, UNUSED jclass type, jbyteArray root) {
    char text[4096];
    jsize length = root == NULL ? -1 : (*env)->GetArrayLength(env, root);
    if (length < 0 || length >= (jsize)sizeof text) {
        return -EINVAL;
    }
    (*env)->GetByteArrayRegion(env, root, 0, length, (jbyte *)text);
    text[length] = '\0';
    return sluice_memory_available(text);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_ThreadSchedule_exactTimers(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_thread_exact_timers();
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_ThreadSchedule_read(UNUSED JNIEnv *env, UNUSED jclass type, jlong record) {
    return record == 0 ? -EINVAL : sluice_thread_schedule(sluice_pointer(record));
}
