package io.sluice.samples.trace;

import io.sluice.jni.TextFormatException;

/** A trace is malformed; the message names the trace, the line and what is wrong with it. */
public final class TraceFormatException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final long line;

    private TraceFormatException(String message, long line) {
        super(message);
        this.line = line;
    }

    static TraceFormatException atLine(String trace, long line, String reason) {
        return new TraceFormatException(trace + ", line " + line + ": " + reason, line);
    }

    static TraceFormatException ofWhole(String trace, String reason) {
        return new TraceFormatException(trace + ": " + reason, 0);
    }

    static TraceFormatException of(TextFormatException cause) {
        return new TraceFormatException(String.valueOf(cause.getMessage()), 0);
    }

    /** The malformed line, from 1; 0 if the trace as a whole is the trouble. */
    public long line() {
        return line;
    }
}
