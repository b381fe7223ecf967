package io.sluice.samples.compare;

/** The rate in one direction of copies that two GPUs make to each other at the same time. */
record CopiesBothWays(GpuRun copies) implements Measurement {
    static CopiesBothWays of(long size) {
        return new CopiesBothWays(GpuRun.bothWays(size));
    }

    @Override
    public Program program() {
        return copies.program();
    }

    @Override
    public String label() {
        return copies.label();
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        Figures figures = copies.run(environment);
        Double rate = figures.values().get(Quantity.GIGABYTES_PER_SECOND);
        return rate == null ? figures : figures.with(Quantity.BUS_GIGABYTES_PER_SECOND, rate);
    }
}
