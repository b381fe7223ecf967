package io.sluice.samples.bench;

import java.util.Locale;

/** The operation to measure. */
public enum BenchOperation {
    WRITE,
    READ,
    WRITEV,
    READV,
    /** A write of a list of pages as one transfer. */
    WRITE_PAGES,
    /** A read of a list of pages as one transfer. */
    READ_PAGES,
    NOTIFY,
    /** An atomic addition to a word, which fetches what it held before. */
    FETCH_ADD,
    /** An addition to a word that a peer may wait for. */
    SIGNAL,
    CONNECT;

    /** Whether a transfer has many elements. */
    public boolean isVectored() {
        return this == WRITEV || this == READV || isPages();
    }

    /** Whether its elements are the pages of a list, which together take one credit of the window. */
    boolean isPages() {
        return this == WRITE_PAGES || this == READ_PAGES;
    }

    /** Whether it brings bytes from the peer's region here. */
    public boolean isRead() {
        return this == READ || this == READV || this == READ_PAGES;
    }

    /** Whether it adds to a word rather than moving bytes. */
    public boolean isAddition() {
        return this == FETCH_ADD || this == SIGNAL;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
