#include "dynamic_library.h"
#include "io_sluice_jni_DynamicLibrary.h"
#include "library_support.h"

#include <stdlib.h>

#define MOST_VARIABLES 16

/* A copy that ends with a zero; NULL if there is no memory. */
static char *copy_of(JNIEnv *env, jbyteArray bytes, jsize *length) {
    *length = (*env)->GetArrayLength(env, bytes);
    char *copy = malloc((size_t)*length + 1);
    if (copy != NULL) {
        (*env)->GetByteArrayRegion(env, bytes, 0, *length, (jbyte *)copy);
        copy[*length] = '\0';
    }
    return copy;
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_DynamicLibrary_open(
        JNIEnv *env, UNUSED jclass type, jbyteArray file, jbyteArray variables, jbyteArray cause) {
    jsize length;
    jsize variables_length;
    char *path = copy_of(env, file, &length);
    char *texts = copy_of(env, variables, &variables_length);
    char why[FOREIGN_CAUSE_BYTES] = "there is no memory";
    void *handle = NULL;
    if (path != NULL && texts != NULL) {
        const char *set[MOST_VARIABLES];
        size_t count = 0;
        for (char *text = texts; text < texts + variables_length && count < MOST_VARIABLES; text += strlen(text) + 1) {
            set[count++] = text;
        }
        handle = sluice_dynamic_open(path, set, count, why);
    }
    free(path);
    free(texts);
    if (handle == NULL) {
        jsize room = (*env)->GetArrayLength(env, cause);
        jsize size = (jsize)strlen(why);
        (*env)->SetByteArrayRegion(env, cause, 0, size < room ? size : room, (const jbyte *)why);
    }
    return (jlong)(uintptr_t)handle;
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_DynamicLibrary_find(
        JNIEnv *env, UNUSED jclass type, jlong handle, jbyteArray name) {
    jsize length;
    char *text = copy_of(env, name, &length);
    void *address = text == NULL ? NULL : sluice_dynamic_symbol((void *)(uintptr_t)handle, text);
    free(text);
    return (jlong)(uintptr_t)address;
}
