#include "io_sluice_jni_Shim.h"
#include "jni_support.h"

/* Resolved by name rather than registered: nothing has to run, or to initialise a class, while the library loads. */

JNIEXPORT jint JNICALL Java_io_sluice_jni_Shim_abiVersion(UNUSED JNIEnv *env, UNUSED jclass type) {
    return io_sluice_jni_Shim_ABI_VERSION;
}

JNIEXPORT jstring JNICALL Java_io_sluice_jni_Shim_description(JNIEnv *env, UNUSED jclass type) {
    return (*env)->NewStringUTF(env, sluice_description());
}
