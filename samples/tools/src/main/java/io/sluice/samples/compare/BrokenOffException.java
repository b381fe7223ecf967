package io.sluice.samples.compare;

/** The program is to end before everything is measured. */
final class BrokenOffException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BrokenOffException() {
        super("interrupted");
    }
}
