package io.sluice.experts;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Counters that the loop writes and any thread reads. */
final class Counters {
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] words;

    Counters(int count) {
        this.words = new long[count];
    }

    void add(int which, long more) {
        WORDS.setOpaque(words, which, words[which] + more);
    }

    long get(int which) {
        return (long) WORDS.getOpaque(words, which);
    }
}
