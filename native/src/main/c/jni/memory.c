#include "io_sluice_jni_Memory.h"
#include "jni_support.h"

JNIEXPORT jlong JNICALL Java_io_sluice_jni_Memory_map(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong bytes, jboolean prefault) {
    return sluice_memory_map(bytes, prefault);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Memory_unmap(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong address, jlong bytes) {
    return sluice_memory_unmap(sluice_pointer(address), bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Memory_pageSize(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_memory_page_size();
}
