package io.sluice.samples.compare;

import io.sluice.samples.report.ByteSize;

/**
 * The speed of {@code memcpy} between the memory of the transfers, in the initiator's process, in turns
 * with the transfers. Which pages a process is given decides by a quarter how fast it copies what fills the cache, so that
 * copies of another process's memory tell little of it. It is measured with our transfers, never alone.
 */
record SameMemoryCopy(long size) implements Measurement {
    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "memcpy of " + ByteSize.format(size) + " between the same memory";
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        throw new MeasurementFailedException(label() + " is measured with the transfers");
    }

    /** The part of our figures that is about it; rounds that failed are told with the transfers. */
    static Series in(Series ours) {
        Series copies = new Series();
        for (Double rate : ours.values(Quantity.MEMCPY_GIGABYTES_PER_SECOND)) {
            copies.add(rate == null ? null : Figures.ofBandwidth(rate));
        }
        return copies;
    }
}
