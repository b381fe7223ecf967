#ifndef LIBRARY_SUPPORT_H
#define LIBRARY_SUPPORT_H

#include "jni_support.h"

#include <limits.h>
#include <string.h>

/* Texts cross as bytes: paths and messages about them need not be valid UTF-8 for the JVM. */
static inline jbyteArray bytes_of(JNIEnv *env, const char *text) {
    jsize length = (jsize)strlen(text);
    jbyteArray result = (*env)->NewByteArray(env, length);
    if (result != NULL) {
        (*env)->SetByteArrayRegion(env, result, 0, length, (const jbyte *)text);
    }
    return result;
}

/* Loads a library by a path, which may be NULL; returns NULL or why it is not usable. */
static inline jbyteArray load_by(JNIEnv *env, jbyteArray path, const char *(*load)(const char *path)) {
    char text[PATH_MAX] = "";
    if (path != NULL) {
        jsize length = (*env)->GetArrayLength(env, path);
        if (length >= (jsize)sizeof text) {
            length = sizeof text - 1;
        }
        (*env)->GetByteArrayRegion(env, path, 0, length, (jbyte *)text);
    }
    const char *cause = load(text);
    return cause == NULL ? NULL : bytes_of(env, cause);
}

#endif
