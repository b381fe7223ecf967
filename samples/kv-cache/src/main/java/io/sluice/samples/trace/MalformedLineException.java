package io.sluice.samples.trace;

/** A line is no request; the message says why, without naming the line. */
final class MalformedLineException extends Exception {

    private static final long serialVersionUID = 1L;

    MalformedLineException(String reason) {
        super(reason);
    }
}
