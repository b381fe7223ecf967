package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table: this engine compared with something else.
 *
 * @param api through what they are started, if this is about one interface alone; {@code null} for whichever is chosen
 * @param goal what the ratio, ours by theirs, is to be, or {@code null}
 */
record Comparison(
        Workload workload,
        @Nullable Api api,
        String peer,
        Measurement theirs,
        Quantity quantity,
        @Nullable Goal goal) {
    static Comparison with(Peer peer, Transfers workload, Quantity quantity) {
        return new Comparison(workload, null, peer.toString(), peer.measurement(workload), quantity, null);
    }

    /** A fixed figure that ours is not to fall below. */
    static Comparison atLeast(Workload workload, Api api, String name, FixedTarget target) {
        return new Comparison(workload, api, name, target, target.quantity(), Goal.atLeast(1));
    }

    /** A fixed figure that ours is not to exceed. */
    static Comparison atMost(Workload workload, Api api, String name, FixedTarget target) {
        return new Comparison(workload, api, name, target, target.quantity(), Goal.atMost(1));
    }

    /** Transfers compared with others of ours, each through one interface. */
    static Comparison ofOwn(Transfers others, Api othersApi, Transfers ours, Api api, String name, Quantity quantity) {
        return new Comparison(ours, api, name, new OwnTransfers(others, othersApi), quantity, null);
    }

    /** The same through one interface. */
    static Comparison ofOwn(Transfers others, Transfers ours, Api api, String name, Quantity quantity) {
        return ofOwn(others, api, ours, api, name, quantity);
    }

    /** Its name, by which it can be chosen. Those for one interface alone share it. */
    String name() {
        return workload.name() + "/" + peer;
    }

    Comparison with(Goal wanted) {
        return new Comparison(workload, api, peer, theirs, quantity, wanted);
    }

    List<Api> apis(List<Api> chosen) {
        return api == null ? chosen : List.of(api);
    }

    /**
     * Whether both are measured one right after the other and alike, so that their ratio in each round says more than that
     * of their medians: what changes on the machine from round to round has no part in it.
     */
    boolean isPaired() {
        return switch (theirs) {
            case SameMemoryCopy _, OwnTransfers _, OwnCollectives _, ProgramStart _ -> true;
            default -> false;
        };
    }

    Measurement ours(Api through) {
        return workload.measurement(through);
    }
}
