#include "io_sluice_jni_VerbsLibrary.h"
#include "jni_support.h"
#include "sluice_verbs.h"

#include <limits.h>
#include <string.h>

/* Texts cross as bytes: paths and the messages about them need not be what the virtual machine takes for UTF-8. */

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
    if (cause == NULL) {
        return NULL;
    }
    jsize length = (jsize)strlen(cause);
    jbyteArray result = (*env)->NewByteArray(env, length);
    if (result != NULL) {
        (*env)->SetByteArrayRegion(env, result, 0, length, (const jbyte *)cause);
    }
    return result;
}
