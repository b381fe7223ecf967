#include "io_sluice_jni_SharedMemory.h"
#include "jni_support.h"

JNIEXPORT jint JNICALL Java_io_sluice_jni_SharedMemory_create(
        JNIEnv *env, UNUSED jclass type, jbyteArray name, jlong bytes, jboolean huge_pages, jboolean prefault) {
    char text[SLUICE_SHARED_MEMORY_NAME_BYTES];
    jsize length = name == NULL ? -1 : (*env)->GetArrayLength(env, name);
    if (length < 0 || length > (jsize)sizeof text) {
        return -EINVAL;
    }
    (*env)->GetByteArrayRegion(env, name, 0, length, (jbyte *)text);
    return sluice_shared_memory_create(text, (size_t)length, bytes, huge_pages, prefault);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_SharedMemory_seal(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jboolean read_only) {
    return sluice_shared_memory_seal(fd, read_only);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_SharedMemory_check(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jlong bytes, jboolean huge_pages) {
    return sluice_shared_memory_check(fd, bytes, huge_pages);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_SharedMemory_map(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jlong bytes, jboolean writable, jboolean prefault) {
    return sluice_shared_memory_map(fd, bytes, writable, prefault);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_SharedMemory_unmap(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong address, jlong bytes) {
    return sluice_shared_memory_unmap(sluice_pointer(address), bytes);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_SharedMemory_hugePageSize(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_shared_memory_huge_page_size();
}
