package io.sluice.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/** Shared code of the classes that open libraries at run time. */
final class ForeignLibrary {
    private ForeignLibrary() {}

    static byte @Nullable [] path(@Nullable String path) {
        return path == null ? null : path.getBytes(UTF_8);
    }

    static @Nullable String text(byte @Nullable [] text) {
        return text == null ? null : new String(text, UTF_8);
    }

    /**
     * Describes the signals that a library tried to handle.
     *
     * @param name the library that was opened
     * @param signals a set whose bit n is signal n
     * @param claimant the file of the library that tried; empty if unknown
     * @return a sentence, or {@code null} without such signals
     */
    static @Nullable String claim(String name, int signals, byte[] claimant) {
        if (signals == 0) {
            return null;
        }
        String file = new String(claimant, UTF_8);
        return (file.isEmpty() ? "A library that " + name + " loads" : file) + " wanted to handle "
                + SignalNames.of(signals) + "; the handlers of this process were kept or restored";
    }
}
