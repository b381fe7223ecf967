package io.sluice.engine.contract;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferOptions;

/**
 * A local and a served region of a pair, over which transfers of every {@link TransferKind} run.
 *
 * @param pair the pair
 * @param local the initiator's region
 * @param remote the target's region, attached
 * @param localBytes the bytes of the local region
 * @param servedBytes the bytes of the target's region
 */
record KindRegions(
        EnginePair pair, MemoryRegion local, RemoteRegion remote, ContractBytes localBytes, ContractBytes servedBytes) {
    /** Allocates and attaches regions in their initial state. */
    static KindRegions open(Contract contract, EnginePair pair) {
        MemoryRegion local = pair.local(TransferKind.BYTES);
        MemoryRegion served = pair.served(TransferKind.BYTES);
        KindRegions regions =
                new KindRegions(pair, local, pair.attach(served), contract.bytesOf(local), contract.bytesOf(served));
        regions.reset();
        return regions;
    }

    Transfer start(TransferKind kind, TransferOptions options, TerminalSignal signal) {
        return kind.on(pair.connection(), local, remote, options, signal);
    }

    void reset() {
        TransferKind.reset(localBytes, servedBytes);
    }

    void assertHappened(TransferKind kind) {
        kind.assertHappened(localBytes, servedBytes);
    }

    void assertNothingHappened(TransferKind kind) {
        kind.assertNothingHappened(localBytes, servedBytes);
    }
}
