/* Conversions shared by the wrappers. A wrapper converts arguments and results and does nothing else. */
#ifndef JNI_SUPPORT_H
#define JNI_SUPPORT_H

#include "sluice.h"

#include <jni.h>

/* javac generates the headers from the classes, so a wrapper that does not match its native method does not compile. */
#define UNUSED __attribute__((unused))

/* Asserts that a constant of a class, from the generated header, has a value of C. */
#define SAME_IN(class, constant, value) \
    _Static_assert( \
            (int64_t)io_sluice_jni_##class##_##constant == (int64_t)(value), \
            #class "." #constant " differs from C's " #value)

static inline void *sluice_pointer(jlong address) {
    return (void *)(intptr_t)address;
}

#endif
