package io.sluice.samples.trace;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Requests in the order of their arrival, one at a time. Confined to one thread at a time. */
public interface TraceSource extends Iterator<TraceRequest>, AutoCloseable {
    /** Returns the malformed lines that were skipped so far. */
    SkippedLines skipped();

    @Override
    void close();

    /** The malformed lines that a lenient reader has left out: all are counted, the first few are described. */
    public static final class SkippedLines {
        /** How many lines are described at most. */
        public static final int DESCRIBED = 20;

        private final List<String> descriptions = new ArrayList<>();
        private long count;

        SkippedLines() {}

        void add(long line, String reason) {
            count++;
            if (descriptions.size() < DESCRIBED) {
                descriptions.add("line " + line + ": " + reason);
            }
        }

        public long count() {
            return count;
        }

        /** The first {@value #DESCRIBED} lines left out, each as its number, from 1, and what is wrong with it. */
        public List<String> descriptions() {
            return List.copyOf(descriptions);
        }
    }
}
