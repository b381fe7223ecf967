package io.sluice.metrics;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.LatencyHistogram;
import io.sluice.engine.TransportMetrics;

/** The histograms of the engine and their meters. */
enum TransferHistogram {
    /** The whole duration. */
    DURATION(EngineMeter.TRANSFER_DURATION) {
        @Override
        LatencyHistogram of(TransportMetrics transport, Operation operation) {
            return transport.duration(operation);
        }
    },
    /** The first part of the duration. */
    CREDIT_WAIT(EngineMeter.TRANSFER_CREDIT_WAIT) {
        @Override
        LatencyHistogram of(TransportMetrics transport, Operation operation) {
            return transport.creditWait(operation);
        }
    },
    /** The second part of the duration. */
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

    /** Returns a snapshot. */
    abstract LatencyHistogram of(TransportMetrics transport, Operation operation);
}
