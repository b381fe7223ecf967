package io.sluice.samples.compare;

/** A run of a measurement went wrong; the message is for the reader of the table. */
final class MeasurementFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    MeasurementFailedException(String message) {
        super(message);
    }
}
