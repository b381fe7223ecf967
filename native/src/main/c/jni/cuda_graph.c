#include "io_sluice_jni_CudaGraph.h"
#include "jni_support.h"
#include "sluice_cuda.h"

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaGraph_create(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong requests, jint count) {
    return sluice_cuda_graph_create(sluice_pointer(device), sluice_pointer(requests), count);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaGraph_destroy(UNUSED JNIEnv *env, UNUSED jclass type, jlong graph) {
    return sluice_cuda_graph_destroy(sluice_pointer(graph));
}
