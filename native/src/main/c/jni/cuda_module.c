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

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaModule_unload(UNUSED JNIEnv *env, UNUSED jclass type, jlong module) {
    return sluice_cuda_module_unload(sluice_pointer(module));
}
