#include "io_sluice_jni_CudaModule.h"
#include "jni_support.h"
#include "sluice_cuda.h"

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaModule_load(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong image) {
    return sluice_cuda_module_load(sluice_pointer(device), sluice_pointer(image));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaModule_function(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong module, jlong name) {
    return sluice_cuda_module_function(sluice_pointer(module), sluice_pointer(name));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaModule_compile(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong image, jlong log, jint log_bytes) {
    return sluice_cuda_module_compile(sluice_pointer(device), sluice_pointer(image), sluice_pointer(log), log_bytes);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaModule_parameter(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong module, jlong function, jint index) {
    return sluice_cuda_module_parameter(sluice_pointer(module), sluice_pointer(function), index);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaModule_sharedBytes(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong module, jlong function, jint bytes) {
    return sluice_cuda_module_shared_bytes(sluice_pointer(module), sluice_pointer(function), bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaModule_unload(UNUSED JNIEnv *env, UNUSED jclass type, jlong module) {
    return sluice_cuda_module_unload(sluice_pointer(module));
}
