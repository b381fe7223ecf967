#include "io_sluice_jni_PeerMemory.h"
#include "jni_support.h"

SAME_IN(PeerMemory, RECORD_BYTES, sizeof(struct sluice_peer_record));
SAME_IN(PeerMemory, MAX_RECORDS, SLUICE_PEER_RECORDS);

JNIEXPORT jint JNICALL Java_io_sluice_jni_PeerMemory_openProcess(UNUSED JNIEnv *env, UNUSED jclass type, jint pid) {
    return sluice_peer_open_process(pid);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_PeerMemory_isAlive(UNUSED JNIEnv *env, UNUSED jclass type, jint process) {
    return sluice_peer_is_alive(process);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_PeerMemory_read(
        UNUSED JNIEnv *env, UNUSED jclass type, jint process, jint pid, jlong records, jint count) {
    return sluice_peer_read(process, pid, sluice_pointer(records), count);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_PeerMemory_write(
        UNUSED JNIEnv *env, UNUSED jclass type, jint process, jint pid, jlong records, jint count) {
    return sluice_peer_write(process, pid, sluice_pointer(records), count);
}
