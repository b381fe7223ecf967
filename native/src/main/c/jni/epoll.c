#include "io_sluice_jni_Epoll.h"
#include "jni_support.h"

#include <sys/epoll.h>

#define SAME(java, system) \
    _Static_assert((uint32_t)io_sluice_jni_Epoll_##java == (uint32_t)(system), "a value in Epoll differs from C's")

SAME(READABLE, EPOLLIN);
SAME(WRITABLE, EPOLLOUT);
SAME(ERROR, EPOLLERR);
SAME(HANGUP, EPOLLHUP);
SAME(PEER_CLOSED, EPOLLRDHUP);
SAME(EDGE, EPOLLET);
SAME(RECORD_BYTES, sizeof(struct sluice_epoll_record));
SAME(RECORD_EVENTS_OFFSET, offsetof(struct sluice_epoll_record, events));
SAME(RECORD_DATA_OFFSET, offsetof(struct sluice_epoll_record, data));

JNIEXPORT jint JNICALL Java_io_sluice_jni_Epoll_create(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_epoll_create();
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Epoll_add(
        UNUSED JNIEnv *env, UNUSED jclass type, jint epoll, jint fd, jint events, jlong data) {
    return sluice_epoll_add(epoll, fd, (uint32_t)events, (uint64_t)data);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Epoll_modify(
        UNUSED JNIEnv *env, UNUSED jclass type, jint epoll, jint fd, jint events, jlong data) {
    return sluice_epoll_modify(epoll, fd, (uint32_t)events, (uint64_t)data);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Epoll_remove(UNUSED JNIEnv *env, UNUSED jclass type, jint epoll, jint fd) {
    return sluice_epoll_remove(epoll, fd);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Epoll_await(
        UNUSED JNIEnv *env, UNUSED jclass type, jint epoll, jlong records, jint maximum, jlong timeout_nanos) {
    return sluice_epoll_await(epoll, sluice_pointer(records), maximum, timeout_nanos);
}
