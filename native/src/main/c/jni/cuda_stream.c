#include "io_sluice_jni_CudaStream.h"
#include "jni_support.h"
#include "cuda_api.h"
#include "sluice_cuda.h"

#define SAME(constant, value) SAME_IN(CudaStream, constant, value)
#define FIELD(constant, member) SAME(REQUEST_##constant##_OFFSET, offsetof(struct sluice_cuda_request, member))

SAME(REQUEST_BYTES, sizeof(struct sluice_cuda_request));
FIELD(STREAM, stream);
FIELD(OPERATION, operation);
FIELD(COUNT, count);
FIELD(DESTINATION, destination);
FIELD(SOURCE, source);
FIELD(LENGTH, bytes);
FIELD(DESTINATIONS, destinations);
FIELD(SOURCES, sources);
FIELD(SIGNAL, signal);
FIELD(ADDEND, addend);
FIELD(SIGNAL_IS_STORE, signal_is_store);
FIELD(MOST_BLOCKS, most_blocks);
FIELD(WORD, word);
FIELD(VALUE, value);
SAME(COPY, SLUICE_CUDA_COPY);
SAME(COPY_PAGES, SLUICE_CUDA_COPY_PAGES);
SAME(COPY_STRIDED, SLUICE_CUDA_COPY_STRIDED);
SAME(CHECKSUM, SLUICE_CUDA_CHECKSUM);
SAME(FILL, SLUICE_CUDA_FILL);
SAME(LAUNCH, SLUICE_CUDA_LAUNCH);
SAME(WAIT_EVENT, SLUICE_CUDA_WAIT_EVENT);
SAME(RECORD_EVENT, SLUICE_CUDA_RECORD_EVENT);
SAME(COMPLETE, SLUICE_CUDA_COMPLETE);
SAME(FETCH_ADD, SLUICE_CUDA_FETCH_ADD);
SAME(COMPARE_AND_SWAP, SLUICE_CUDA_COMPARE_AND_SWAP);
SAME(LAUNCH_GRAPH, SLUICE_CUDA_LAUNCH_GRAPH);
SAME(NOT_READY, -CUDA_NOT_READY);

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaStream_create(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong kernels, jint priority, jint max_blocks) {
    return sluice_cuda_stream_create(sluice_pointer(device), sluice_pointer(kernels), priority, max_blocks);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaStream_open(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jint priority) {
    return sluice_cuda_stream_open(sluice_pointer(device), priority);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaStream_adopt(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong handle) {
    return sluice_cuda_stream_adopt(sluice_pointer(device), sluice_pointer(handle));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaStream_submit(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong requests, jint count) {
    return sluice_cuda_submit(sluice_pointer(requests), count);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaStream_query(UNUSED JNIEnv *env, UNUSED jclass type, jlong stream) {
    return sluice_cuda_stream_query(sluice_pointer(stream));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaStream_signal(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong stream, jint descriptor) {
    return sluice_cuda_stream_signal(sluice_pointer(stream), descriptor);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaStream_handle(UNUSED JNIEnv *env, UNUSED jclass type, jlong stream) {
    return sluice_cuda_stream_handle(sluice_pointer(stream));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaStream_destroy(UNUSED JNIEnv *env, UNUSED jclass type, jlong stream) {
    return sluice_cuda_stream_destroy(sluice_pointer(stream));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaStream_eventCreate(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_cuda_event_create(sluice_pointer(device));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaStream_eventCreateTimed(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_cuda_event_create_timed(sluice_pointer(device));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaStream_eventElapsed(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong begin, jlong end) {
    return sluice_cuda_event_elapsed(sluice_pointer(device), sluice_pointer(begin), sluice_pointer(end));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaStream_eventQuery(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong event) {
    return sluice_cuda_event_query(sluice_pointer(device), sluice_pointer(event));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaStream_eventDestroy(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong event) {
    return sluice_cuda_event_destroy(sluice_pointer(device), sluice_pointer(event));
}
