package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.bench.Buffers;

/** Vectored writes of the elements that a rank dispatches, by this engine. */
record SameElements(OwnTransfers transfers) implements Measurement {
    static SameElements of(Experts experts) {
        return new SameElements(new OwnTransfers(
                Transfers.vectored(
                                experts.route(),
                                BenchOperation.WRITEV,
                                experts.size(),
                                experts.tokens() * Experts.TOP_K)
                        .with(Buffers.DISTINCT),
                Api.ENGINE));
    }

    @Override
    public Program program() {
        return transfers.program();
    }

    @Override
    public String label() {
        return transfers.label();
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        Double rate = transfers.run(environment).values().get(Quantity.GIGABYTES_PER_SECOND);
        if (rate == null) {
            throw new MeasurementFailedException(label() + ": it printed no figures");
        }
        return Figures.of(Quantity.DISPATCH_GIGABYTES_PER_SECOND, rate);
    }
}
