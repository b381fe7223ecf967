package io.sluice.samples.compare;

/**
 * Something to measure, once in each round. Equal ones are the same measurement, which several comparisons may share.
 */
interface Measurement {
    Program program();

    /** The name for messages. */
    String label();

    /**
     * Measures once.
     *
     * @throws MeasurementFailedException if it went wrong
     * @throws BrokenOffException if the program is to end
     */
    Figures run(BenchEnvironment workbench) throws MeasurementFailedException;
}
