package io.sluice.engine.transport.verbs;

import java.util.BitSet;

/** A set of processors, as the kernel writes it: {@code 0-3,8}. */
record RailCpuList(BitSet processors) {
    /** Reads a list; what cannot be read is left out. */
    static RailCpuList parse(String text) {
        BitSet processors = new BitSet();
        for (String range : text.split(",")) {
            String[] ends = range.strip().split("-", 2);
            try {
                int first = Integer.parseInt(ends[0]);
                processors.set(first, (ends.length == 1 ? first : Integer.parseInt(ends[1])) + 1);
            } catch (NumberFormatException | IndexOutOfBoundsException e) {
                // an empty list, or a form of a later kernel
                continue;
            }
        }
        return new RailCpuList(processors);
    }

    boolean intersects(RailCpuList other) {
        return processors.intersects(other.processors);
    }
}
