#include "io_sluice_jni_CudaMemory.h"
#include "jni_support.h"
#include "sluice_cuda.h"

#define SAME(constant, value) SAME_IN(CudaMemory, constant, value)
#define FIELD(constant, member) SAME(RECORD_##constant##_OFFSET, offsetof(struct sluice_cuda_memory_record, member))

SAME(RECORD_BYTES, sizeof(struct sluice_cuda_memory_record));
SAME(IPC_HANDLE_BYTES, SLUICE_CUDA_IPC_HANDLE_BYTES);
SAME(KIND_UNKNOWN, SLUICE_CUDA_MEMORY_NONE);
SAME(KIND_DEVICE, SLUICE_CUDA_MEMORY_DEVICE);
SAME(KIND_HOST, SLUICE_CUDA_MEMORY_HOST);
SAME(KIND_MANAGED, SLUICE_CUDA_MEMORY_MANAGED);
SAME(SHARING_NONE, SLUICE_CUDA_NOT_SHARED);
SAME(SHARING_HANDLE, SLUICE_CUDA_SHARED_BY_HANDLE);
SAME(SHARING_DESCRIPTOR, SLUICE_CUDA_SHARED_BY_DESCRIPTOR);
FIELD(BASE, base);
FIELD(LENGTH, bytes);
FIELD(BUFFER_ID, buffer_id);
FIELD(ORDINAL, ordinal);
FIELD(KIND, kind);
FIELD(SHARING, sharing);
FIELD(RDMA, is_rdma_capable);
FIELD(BLOCK_ID, block_id);

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaMemory_granularity(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_cuda_memory_granularity(sluice_pointer(device));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaMemory_allocate(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong bytes) {
    return sluice_cuda_memory_allocate(sluice_pointer(device), bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaMemory_free(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong address, jlong bytes) {
    return sluice_cuda_memory_free(sluice_pointer(device), (uint64_t)address, bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaMemory_export(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong address) {
    return sluice_cuda_memory_export(sluice_pointer(device), (uint64_t)address);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaMemory_importDescriptor(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jint descriptor, jlong bytes) {
    return sluice_cuda_memory_import(sluice_pointer(device), descriptor, bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaMemory_describe(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong address, jlong record) {
    return sluice_cuda_memory_describe((uint64_t)address, sluice_pointer(record));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaMemory_ipcHandle(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong base, jlong handle) {
    return sluice_cuda_memory_ipc_handle(sluice_pointer(device), (uint64_t)base, sluice_pointer(handle));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaMemory_ipcOpen(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong handle) {
    return sluice_cuda_memory_ipc_open(sluice_pointer(device), sluice_pointer(handle));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaMemory_ipcClose(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong base) {
    return sluice_cuda_memory_ipc_close(sluice_pointer(device), (uint64_t)base);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaMemory_dmaBuffer(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong address, jlong bytes) {
    return sluice_cuda_memory_dma_buffer(sluice_pointer(device), (uint64_t)address, bytes);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaMemory_flushRemoteWrites(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device) {
    return sluice_cuda_memory_flush_remote_writes(sluice_pointer(device));
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaMemory_registerHost(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong address, jlong bytes) {
    return sluice_cuda_host_register(sluice_pointer(device), sluice_pointer(address), bytes);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_CudaMemory_hostAddress(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong address) {
    return sluice_cuda_host_address(sluice_pointer(device), sluice_pointer(address));
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_CudaMemory_unregisterHost(
        UNUSED JNIEnv *env, UNUSED jclass type, jlong device, jlong address) {
    return sluice_cuda_host_unregister(sluice_pointer(device), sluice_pointer(address));
}
