package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table: transfers of this engine beside something else.
 *
 * @param subject our transfers
 * @param api through what they are started, if this is about one interface alone; {@code null} for whichever is chosen
 * @param peer what the other thing is called
 * @param theirs how it is measured
 * @param quantity by what they are compared
 * @param goal what the ratio, ours by theirs, is to be, or {@code null}
 */
record Comparison(
        Subject subject,
        @Nullable Api api,
        String peer,
        Measurement theirs,
        Quantity quantity,
        @Nullable Goal goal) {

    static Comparison with(Peer peer, Subject subject, Quantity quantity) {
        return new Comparison(subject, null, peer.toString(), peer.measurement(subject), quantity, null);
    }

    /** Its name, by which it can be chosen. Those for one interface alone share it. */
    String name() {
        return subject.name() + "/" + peer;
    }

    /** The same with a goal. */
    Comparison with(Goal wanted) {
        return new Comparison(subject, api, peer, theirs, quantity, wanted);
    }

    /** The interfaces that it is made for, of those that are chosen. */
    List<Api> apis(List<Api> chosen) {
        return api == null ? chosen : List.of(api);
    }

    /**
     * Whether both are measured one right after the other and alike, so that their ratio in each round says more than that
     * of their medians: what changes on the machine from round to round has no part in it.
     */
    boolean isPaired() {
        return theirs instanceof SameMemoryCopy || theirs instanceof OwnTransfers;
    }

    OwnTransfers ours(Api through) {
        return new OwnTransfers(subject, through);
    }
}
