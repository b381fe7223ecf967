#include "io_sluice_jni_MachineFacts.h"
#include "jni_support.h"

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
