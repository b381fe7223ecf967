package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.Operation;
import io.sluice.samples.report.ByteSize;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table: transfers of this engine beside something else.
 *
 * @param operation what a transfer does
 * @param size in bytes
 * @param inflight transfers in flight
 * @param idle what the pollers do while there is nothing to do
 * @param peer what they are compared with
 * @param quantity by what
 * @param goal what the ratio, ours by theirs, is to be, or {@code null}
 */
record Comparison(
        Operation operation,
        long size,
        int inflight,
        IdlePollers idle,
        Peer peer,
        Quantity quantity,
        @Nullable Goal goal) {

    /** Its name, by which it can be chosen. */
    String name() {
        return subject() + "/" + peer;
    }

    /** The first half of the name: what of this engine is measured. */
    String subject() {
        return operation + "-" + ByteSize.format(size).replace(" ", "");
    }

    /** The same with a goal. */
    Comparison with(Goal wanted) {
        return new Comparison(operation, size, inflight, idle, peer, quantity, wanted);
    }

    OwnTransfers ours(Api api) {
        return new OwnTransfers(operation, api, size, inflight, idle);
    }

    Measurement theirs() {
        return peer.measurement(operation, size, inflight);
    }
}
