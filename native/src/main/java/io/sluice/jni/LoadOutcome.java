package io.sluice.jni;

import org.jspecify.annotations.Nullable;

/** How loading ended: where the library came from, or why there is none. */
record LoadOutcome(String origin, @Nullable Throwable cause) {
    static LoadOutcome loaded(String origin) {
        return new LoadOutcome(origin, null);
    }

    static LoadOutcome failed(Throwable cause) {
        return new LoadOutcome("", cause);
    }
}
