#include "io_sluice_jni_EventDescriptor.h"
#include "jni_support.h"

JNIEXPORT jint JNICALL Java_io_sluice_jni_EventDescriptor_create(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_event_create();
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_EventDescriptor_signal(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_event_signal(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_EventDescriptor_drain(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_event_drain(fd);
}
