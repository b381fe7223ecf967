#include "io_sluice_jni_CudaDevice.h"
#include "jni_support.h"
#include "sluice_cuda.h"

#define SAME(constant, value) SAME_IN(CudaDevice, constant, value)
#define FIELD(constant, member) SAME(RECORD_##constant##_OFFSET, offsetof(struct sluice_cuda_device_record, member))

SAME(RECORD_BYTES, sizeof(struct sluice_cuda_device_record));
SAME(NAME_BYTES, SLUICE_CUDA_NAME_BYTES);
SAME(BUS_ID_BYTES, SLUICE_CUDA_BUS_ID_BYTES);
FIELD(UUID, uuid);
FIELD(MEMORY_BYTES, memory_bytes);
FIELD(ORDINAL, ordinal);
FIELD(COMPUTE_MAJOR, compute_major);
FIELD(COMPUTE_MINOR, compute_minor);
FIELD(MULTIPROCESSORS, multiprocessors);
FIELD(COPY_ENGINES, copy_engines);
FIELD(DESCRIPTORS, has_descriptors);
FIELD(DMA_BUFFERS, has_dma_buffers);
FIELD(RDMA, has_rdma);
FIELD(RDMA_FLUSH, rdma_flush);
FIELD(RDMA_ORDERING, rdma_ordering);
FIELD(STREAM_WORDS, has_stream_words);
FIELD(NAME, name);
FIELD(BUS_ID, bus_id);

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaDevice_count(UNUSED JNIEnv *env, UNUSED jclass type) {
    return sluice_cuda_device_count();
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaDevice_query(
        UNUSED JNIEnv *env, UNUSED jclass type, jint ordinal, jlong record) {
    return sluice_cuda_device_query(ordinal, sluice_pointer(record));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaDevice_link(
        UNUSED JNIEnv *env, UNUSED jclass type, jint ordinal, jint peer) {
    return sluice_cuda_device_link(ordinal, peer);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaDevice_open(UNUSED JNIEnv *env, UNUSED jclass type, jint ordinal) {
    return sluice_cuda_device_open(ordinal);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaDevice_makeCurrent(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_cuda_device_make_current(sluice_pointer(device));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaDevice_freeMemory(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong bytes) {
    return sluice_cuda_device_free_memory(sluice_pointer(device), sluice_pointer(bytes));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaDevice_enablePeer(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong peer) {
    return sluice_cuda_memory_enable_peer(sluice_pointer(device), sluice_pointer(peer));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaDevice_fault(UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_cuda_device_fault(sluice_pointer(device));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaDevice_close(UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_cuda_device_close(sluice_pointer(device));
}
