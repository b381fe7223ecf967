package io.sluice.samples.bench;

import java.util.Locale;

/** What is measured. */
public enum BenchOperation {
    /** A write of one element. */
    WRITE,
    /** A read of one element. */
    READ,
    /** A write of many elements as one transfer. */
    WRITEV,
    /** A read of many elements as one transfer. */
    READV,
    /** A notification. */
    NOTIFY,
    /** An atomic addition to a word, which fetches what it held before. */
    FETCH_ADD,
    /** An addition to a word that a peer may wait for. */
    SIGNAL,
    /** A connection, made and closed again. */
    CONNECT;

    /** Whether a transfer has many elements. */
    public boolean isVectored() {
        return this == WRITEV || this == READV;
    }

    /** Whether it brings bytes from the peer's region here. */
    public boolean isRead() {
        return this == READ || this == READV;
    }

    /** Whether it adds to a word rather than moving bytes. */
    public boolean isAddition() {
        return this == FETCH_ADD || this == SIGNAL;
    }

    /** Its name as an option's value. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
