package io.sluice.samples.bench;

import java.lang.foreign.MemorySegment;

/** The rows that a dispatch has brought to one rank. */
interface ExpertRows {
    /** How many are wrong, or lacking. */
    long wrong(long block);

    /** Writes what the experts of the rank make of each, into the same rows. */
    void answer(long block, MemorySegment answers);
}
