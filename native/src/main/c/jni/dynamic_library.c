#include "dynamic_library.h"
#include "io_sluice_jni_DynamicLibrary.h"
#include "library_support.h"

#include <stdlib.h>

#define MOST_TEXTS 16

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

/* Where the texts begin that lie one after another, each with a zero; returns how many there are, MOST_TEXTS at most. */
static size_t split(const char *texts, jsize length, const char *begins[MOST_TEXTS]) {
    size_t count = 0;
    for (const char *text = texts; text < texts + length && count < MOST_TEXTS; text += strlen(text) + 1) {
        begins[count++] = text;
    }
    return count;
}

static void report(JNIEnv *env, jbyteArray cause, const char *why) {
    jsize room = (*env)->GetArrayLength(env, cause);
    jsize size = (jsize)strlen(why);
    (*env)->SetByteArrayRegion(env, cause, 0, size < room ? size : room, (const jbyte *)why);
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
        const char *set[MOST_TEXTS];
        handle = sluice_dynamic_open(path, set, split(texts, variables_length, set), why);
    }
    free(path);
    free(texts);
    if (handle == NULL) {
        report(env, cause, why);
    }
    return (jlong)(uintptr_t)handle;
}

JNIEXPORT jboolean JNICALL Java_io_sluice_jni_DynamicLibrary_hasAll(
        JNIEnv *env, UNUSED jclass type, jbyteArray file, jbyteArray functions, jbyteArray cause) {
    jsize length;
    jsize functions_length;
    char *path = copy_of(env, file, &length);
    char *texts = copy_of(env, functions, &functions_length);
    char why[FOREIGN_CAUSE_BYTES] = "there is no memory";
    bool has_all = false;
    if (path != NULL && texts != NULL) {
        const char *names[MOST_TEXTS];
        has_all = sluice_dynamic_try(path, names, split(texts, functions_length, names), why);
    }
    free(path);
    free(texts);
    if (!has_all) {
        report(env, cause, why);
    }
    return has_all ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jlong JNICALL Java_io_sluice_jni_DynamicLibrary_find(
        JNIEnv *env, UNUSED jclass type, jlong handle, jbyteArray name) {
    jsize length;
    char *text = copy_of(env, name, &length);
    void *address = text == NULL ? NULL : sluice_dynamic_symbol((void *)(uintptr_t)handle, text);
    free(text);
    return (jlong)(uintptr_t)address;
}
