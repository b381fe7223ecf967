#include "io_sluice_jni_Sockets.h"
#include "jni_support.h"

typedef int address_user(int fd, const uint8_t *address, size_t length, int scope, int port);
typedef int address_giver(int fd, uint8_t address[SLUICE_ADDRESS_BYTES]);

static jint with_address(JNIEnv *env, address_user *use, jint fd, jbyteArray address, jint scope, jint port) {
    if (address == NULL) {
        return -EINVAL;
    }
    uint8_t bytes[16];
    jsize length = (*env)->GetArrayLength(env, address);
    if (length > (jsize)sizeof bytes) {
        return -EINVAL;
    }
    (*env)->GetByteArrayRegion(env, address, 0, length, (jbyte *)bytes);
    return use(fd, bytes, (size_t)length, scope, port);
}

static jbyteArray give_address(JNIEnv *env, address_giver *give, jint fd) {
    uint8_t bytes[SLUICE_ADDRESS_BYTES];
    int length = give(fd, bytes);
    if (length < 0) {
        return NULL;
    }
    jbyteArray result = (*env)->NewByteArray(env, length);
    if (result != NULL) {
        (*env)->SetByteArrayRegion(env, result, 0, length, (const jbyte *)bytes);
    }
    return result;
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_openStream(UNUSED JNIEnv *env, UNUSED jclass type, jboolean ipv6) {
    return sluice_socket_open(ipv6);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_bind(
        JNIEnv *env, UNUSED jclass type, jint fd, jbyteArray address, jint scope, jint port) {
    return with_address(env, sluice_socket_bind, fd, address, scope, port);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_listen(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jint backlog) {
    return sluice_socket_listen(fd, backlog);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_connect(
        JNIEnv *env, UNUSED jclass type, jint fd, jbyteArray address, jint scope, jint port) {
    return with_address(env, sluice_socket_connect, fd, address, scope, port);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_connectResult(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_socket_connect_result(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_accept(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_socket_accept(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_localPort(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_socket_local_port(fd);
}

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_Sockets_localAddress(JNIEnv *env, UNUSED jclass type, jint fd) {
    return give_address(env, sluice_socket_local_address, fd);
}

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_Sockets_peerAddress(JNIEnv *env, UNUSED jclass type, jint fd) {
    return give_address(env, sluice_socket_peer_address, fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_setNoDelay(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jboolean on) {
    return sluice_socket_set_no_delay(fd, on);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_setUnpaced(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_socket_set_unpaced(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_setResetOnClose(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_socket_set_reset_on_close(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_setSendBuffer(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jint bytes) {
    return sluice_socket_set_send_buffer(fd, bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_setReceiveBuffer(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jint bytes) {
    return sluice_socket_set_receive_buffer(fd, bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_setQuickAck(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jboolean on) {
    return sluice_socket_set_quick_ack(fd, on);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_setKeepAlive(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jboolean on) {
    return sluice_socket_set_keep_alive(fd, on);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_setUserTimeout(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jint milliseconds) {
    return sluice_socket_set_user_timeout(fd, milliseconds);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_Sockets_send(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jlong address, jlong length) {
    return sluice_stream_send(fd, sluice_pointer(address), length);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_Sockets_receive(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jlong address, jlong length) {
    return sluice_stream_receive(fd, sluice_pointer(address), length);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_Sockets_sendVector(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jlong vector, jint count) {
    return sluice_stream_send_vector(fd, sluice_pointer(vector), count);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_Sockets_receiveVector(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd, jlong vector, jint count) {
    return sluice_stream_receive_vector(fd, sluice_pointer(vector), count);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_shutdown(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_socket_shutdown(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_close(UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_socket_close(fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Sockets_unacknowledgedBytes(
        UNUSED JNIEnv *env, UNUSED jclass type, jint fd) {
    return sluice_socket_unacknowledged_bytes(fd);
}
