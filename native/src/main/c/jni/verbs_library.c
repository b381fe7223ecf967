#include "io_sluice_jni_VerbsLibrary.h"
#include "library_support.h"
#include "sluice_verbs.h"

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_VerbsLibrary_open(JNIEnv *env, UNUSED jclass type, jbyteArray path) {
    return load_by(env, path, sluice_verbs_load);
}

JNIEXPORT jint JNICALL Java_io_sluice_jni_VerbsLibrary_claimedSignals(UNUSED JNIEnv *env, UNUSED jclass type) {
    return (jint)sluice_verbs_claimed_signals();
}

JNIEXPORT jbyteArray JNICALL Java_io_sluice_jni_VerbsLibrary_claimant(JNIEnv *env, UNUSED jclass type) {
    return bytes_of(env, sluice_verbs_claimant());
}
