package io.sluice.samples.trace;

/** What a reader does about a malformed line. */
public enum TraceMode {
    /** It fails with a {@link TraceFormatException}. */
    STRICT,

    /** It leaves the line out and takes note of it. */
    LENIENT
}
