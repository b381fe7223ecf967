package io.sluice.jni;

import org.jspecify.annotations.Nullable;

/** The outcome of loading: the library's origin, or why there is none. */
record LoadOutcome(String origin, @Nullable Throwable cause) {
    static LoadOutcome loaded(String origin) {
        return new LoadOutcome(origin, null);
    }

    static LoadOutcome failed(Throwable cause) {
        return new LoadOutcome("", cause);
    }
}
