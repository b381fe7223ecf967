package io.sluice.metrics;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.LatencyHistogram;
import io.sluice.engine.TransportMetrics;

/** The histograms of the engine, and the meters that they are. */
enum TransferHistogram {
    /** All of it. */
    DURATION(EngineMeter.TRANSFER_DURATION) {
        @Override
        LatencyHistogram of(TransportMetrics transport, Operation operation) {
            return transport.duration(operation);
        }
    },
    /** Its first part. */
    CREDIT_WAIT(EngineMeter.TRANSFER_CREDIT_WAIT) {
        @Override
        LatencyHistogram of(TransportMetrics transport, Operation operation) {
            return transport.creditWait(operation);
        }
    },
    /** Its second part. */
    COMPLETION(EngineMeter.TRANSFER_COMPLETION) {
        @Override
        LatencyHistogram of(TransportMetrics transport, Operation operation) {
            return transport.completion(operation);
        }
    };

    private final EngineMeter meter;

    TransferHistogram(EngineMeter meter) {
        this.meter = meter;
    }

    EngineMeter meter() {
        return meter;
    }

    /** A snapshot. */
    abstract LatencyHistogram of(TransportMetrics transport, Operation operation);
}
