#include "io_sluice_jni_MachineFacts.h"
#include "jni_support.h"

JNIEXPORT jint JNICALL Java_io_sluice_jni_MachineFacts_setThreadAffinity(
        UNUSED JNIEnv *env, UNUSED jclass type, jint cpu) {
    return sluice_thread_set_affinity(cpu);
}
