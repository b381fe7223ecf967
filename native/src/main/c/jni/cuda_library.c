#include "io_sluice_jni_CudaLibrary.h"
#include "library_support.h"
#include "sluice_cuda.h"

#define ERROR_TEXT_BYTES 512

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_CudaLibrary_open(JNIEnv *env, UNUSED jclass type, jbyteArray path) {
    return load_by(env, path, sluice_cuda_load);
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
