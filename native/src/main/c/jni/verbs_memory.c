#include "io_sluice_jni_VerbsMemory.h"
#include "jni_support.h"
#include "sluice_verbs.h"

#define SAME(constant) SAME_IN(VerbsMemory, constant, SLUICE_VERBS_##constant)

SAME(LOCAL_WRITE);
SAME(REMOTE_WRITE);
SAME(REMOTE_READ);
SAME(REMOTE_ATOMIC);
SAME(RELAXED_ORDERING);
SAME(ON_DEMAND);

JNIEXPORT jlong JNICALL Java_io_sluice_jni_VerbsMemory_register(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong domain, jlong address, jlong length, jint access) {
    return sluice_verbs_memory_register(sluice_pointer(domain), sluice_pointer(address), length, access);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_VerbsMemory_registerDmabuf(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong domain, jint descriptor, jlong offset, jlong length,
        jlong virtual_address, jint access) {
    return sluice_verbs_memory_register_dmabuf(
            sluice_pointer(domain), descriptor, offset, length, (uint64_t)virtual_address, access);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsMemory_localKey(UNUSED JNIEnv *env, UNUSED jclass type, jlong region) {
    return sluice_verbs_memory_local_key(sluice_pointer(region));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsMemory_remoteKey(UNUSED JNIEnv *env, UNUSED jclass type, jlong region) {
    return sluice_verbs_memory_remote_key(sluice_pointer(region));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsMemory_deregister(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong region) {
    return sluice_verbs_memory_deregister(sluice_pointer(region));
}
