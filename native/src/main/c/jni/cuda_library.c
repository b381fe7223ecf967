#include "io_sluice_jni_CudaLibrary.h"
#include "jni_support.h"
#include "sluice_cuda.h"

#include <limits.h>
#include <string.h>

#define ERROR_TEXT_BYTES 512

/* Texts cross as bytes: paths and messages about them need not be valid UTF-8 for the JVM. */
static jbyteArray bytes_of(JNIEnv *env, const char *text) {
    jsize length = (jsize)strlen(text);
    jbyteArray result = (*env)->NewByteArray(env, length);
    if (result != NULL) {
        (*env)->SetByteArrayRegion(env, result, 0, length, (const jbyte *)text);
    }
    return result;
}

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_CudaLibrary_open(JNIEnv *env, UNUSED jclass type, jbyteArray path) {
    char text[PATH_MAX] = "";
    if (path != NULL) {
        jsize length = (*env)->GetArrayLength(env, path);
        if (length >= (jsize)sizeof text) {
            length = sizeof text - 1;
        }
        (*env)->GetByteArrayRegion(env, path, 0, length, (jbyte *)text);
    }
    const char *cause = sluice_cuda_load(text);
    return cause == NULL ? NULL : bytes_of(env, cause);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaLibrary_claimedSignals(UNUSED JNIEnv *env, UNUSED jclass type) {
    return (jint)sluice_cuda_claimed_signals();
}

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_CudaLibrary_claimant(JNIEnv *env, UNUSED jclass type) {
    return bytes_of(env, sluice_cuda_claimant());
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaLibrary_driverVersion(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_cuda_driver_version();
}

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_CudaLibrary_text(JNIEnv *env, UNUSED jclass type, jint error) {
    char text[ERROR_TEXT_BYTES];
    sluice_cuda_error_text(error, text, sizeof text);
    return bytes_of(env, text);
}
