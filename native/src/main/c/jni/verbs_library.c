#include "io_sluice_jni_VerbsLibrary.h"
#include "jni_support.h"
#include "sluice_verbs.h"

#include <limits.h>
#include <string.h>

/* Texts cross as bytes: paths and messages about them need not be valid UTF-8 for the JVM. */

static jbyteArray bytes_of(JNIEnv *env, const char *text) {
    jsize length = (jsize)strlen(text);
    jbyteArray result = (*env)->NewByteArray(env, length);
    if (result != NULL) {
        (*env)->SetByteArrayRegion(env, result, 0, length, (const jbyte *)text);
    }
    return result;
}

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_VerbsLibrary_open(JNIEnv *env, UNUSED jclass type, jbyteArray path) {
    char text[PATH_MAX] = "";
    if (path != NULL) {
        jsize length = (*env)->GetArrayLength(env, path);
        if (length >= (jsize)sizeof text) {
            length = sizeof text - 1;
        }
        (*env)->GetByteArrayRegion(env, path, 0, length, (jbyte *)text);
    }
    const char *cause = sluice_verbs_load(text);
    return cause == NULL ? NULL : bytes_of(env, cause);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsLibrary_claimedSignals(UNUSED JNIEnv *env, UNUSED jclass type) {
    return (jint)sluice_verbs_claimed_signals();
}

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_VerbsLibrary_claimant(JNIEnv *env, UNUSED jclass type) {
    return bytes_of(env, sluice_verbs_claimant());
}
