#include "io_sluice_jni_LocalSockets.h"
#include "jni_support.h"

SAME_IN(LocalSockets, MAX_DESCRIPTORS, SLUICE_LOCAL_DESCRIPTORS);

typedef int address_user(const uint8_t *address, size_t length);

static jint with_address(JNIEnv *env, address_user *use, jbyteArray address) {
    uint8_t bytes[SLUICE_LOCAL_ADDRESS_BYTES];
    jsize length = address == NULL ? 0 : (*env)->GetArrayLength(env, address);
    if (length < 1 || length > (jsize)sizeof bytes) {
        return -EINVAL;
    }
    (*env)->GetByteArrayRegion(env, address, 0, length, (jbyte *)bytes);
    return use(bytes, (size_t)length);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_LocalSockets_listen(JNIEnv *env, UNUSED jclass type, jbyteArray address) {
    return with_address(env, sluice_local_listen, address);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_LocalSockets_connect(JNIEnv *env, UNUSED jclass type, jbyteArray address) {
    return with_address(env, sluice_local_connect, address);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_LocalSockets_accept(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_local_accept(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_LocalSockets_send(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jlong address, jint length, jlong descriptors, jint count) {
    return sluice_local_send(fd, sluice_pointer(address), length, sluice_pointer(descriptors), count);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_LocalSockets_receive(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jlong address, jint length, jlong descriptors, jint maximum) {
    return sluice_local_receive(fd, sluice_pointer(address), length, sluice_pointer(descriptors), maximum);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_LocalSockets_peer(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_local_peer(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_LocalSockets_peerProcess(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_local_peer_process(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_LocalSockets_userId(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_local_user_id();
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_LocalSockets_processId(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_local_process_id();
}
