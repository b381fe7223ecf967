#include "io_sluice_jni_Reduce.h"
#include "jni_support.h"
#include "sluice_reduce.h"

#define SAME(constant, value) SAME_IN(Reduce, constant, value)

SAME(INT8, SLUICE_INT8);
SAME(UINT8, SLUICE_UINT8);
SAME(INT32, SLUICE_INT32);
SAME(UINT32, SLUICE_UINT32);
SAME(INT64, SLUICE_INT64);
SAME(UINT64, SLUICE_UINT64);
SAME(FLOAT16, SLUICE_FLOAT16);
SAME(BFLOAT16, SLUICE_BFLOAT16);
SAME(FLOAT32, SLUICE_FLOAT32);
SAME(FLOAT64, SLUICE_FLOAT64);
SAME(SUM, SLUICE_SUM);
SAME(PRODUCT, SLUICE_PRODUCT);
SAME(MIN, SLUICE_MIN);
SAME(MAX, SLUICE_MAX);
SAME(AVERAGE, SLUICE_AVERAGE);
SAME(MAX_OPERANDS, SLUICE_REDUCE_OPERANDS);
SAME(MAX_DIVISOR, SLUICE_REDUCE_DIVISOR);
SAME(PLAIN, SLUICE_REDUCE_PLAIN);
SAME(AVX2, SLUICE_REDUCE_AVX2);
SAME(AVX512, SLUICE_REDUCE_AVX512);

static int reduce(
        jint type,
        jint operation,
        jlong target,
        const void *const *sources,
        jint operands,
        jint divisor,
        jlong count,
        jboolean streaming) {
    struct sluice_reduction reduction = {
        .type = (enum sluice_reduce_type)type,
        .operation = (enum sluice_reduce_operation)operation,
        .to = sluice_pointer(target),
        .from = sources,
        .operands = operands,
        .divisor = divisor,
        .count = count,
        .streaming = streaming != JNI_FALSE,
    };
    return sluice_reduce(&reduction);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Reduce_ofTwo(
        UNUSED JNIEnv *env,
        UNUSED jclass class,
        jint type,
        jint operation,
        jlong target,
        jlong first,
        jlong second,
        jint divisor,
        jlong count,
        jboolean streaming) {
    const void *sources[] = {sluice_pointer(first), sluice_pointer(second)};
    return reduce(type, operation, target, sources, 2, divisor, count, streaming);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Reduce_ofTable(
        UNUSED JNIEnv *env,
        UNUSED jclass class,
        jint type,
        jint operation,
        jlong target,
        jlong sources,
        jint operands,
        jint divisor,
        jlong count,
        jboolean streaming) {
    return reduce(type, operation, target, sluice_pointer(sources), operands, divisor, count, streaming);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Reduce_ofOne(
        UNUSED JNIEnv *env,
        UNUSED jclass class,
        jint type,
        jlong target,
        jlong source,
        jint divisor,
        jlong count,
        jboolean streaming) {
    const void *sources[] = {sluice_pointer(source)};
    return reduce(type, SLUICE_AVERAGE, target, sources, 1, divisor, count, streaming);
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_Reduce_streamedFrom(UNUSED JNIEnv *env, UNUSED jclass class) {
    return sluice_reduce_streamed_from();
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Reduce_variant(UNUSED JNIEnv *env, UNUSED jclass class) {
    return sluice_reduce_variant();
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_Reduce_use(UNUSED JNIEnv *env, UNUSED jclass class, jint variant) {
    return sluice_reduce_use(variant);
}
