package io.sluice.samples.bench;

import java.util.Locale;

/** What is measured. */
public enum Operation {
    /** A write of one element. */
    WRITE,
    /** A read of one element. */
    READ,
    /** A write of many elements as one transfer. */
    WRITEV,
    /** A read of many elements as one transfer. */
    READV,
    /** A notification. */
    NOTIFY;

    /** Whether a transfer has many elements. */
    public boolean isVectored() {
        return this == WRITEV || this == READV;
    }

    /** Whether it brings bytes from the peer's region here. */
    public boolean isRead() {
        return this == READ || this == READV;
    }

    /** Its name as an option's value. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
