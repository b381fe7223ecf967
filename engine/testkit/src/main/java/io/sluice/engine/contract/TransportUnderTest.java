package io.sluice.engine.contract;

import io.sluice.engine.EngineOptions;
import io.sluice.testkit.PatientOptions;
import java.util.Map;

/** The contract's view of a transport. All differences between transports are declared here. */
@FunctionalInterface
public interface TransportUnderTest {
    /**
     * The provider's name, as in {@link EngineOptions#transports()}.
     *
     * @return {@code tcp}, for example
     */
    String name();

    /**
     * The settings that select and shape the transport, as {@code SLUICE_*} variables, so that engines in other processes
     * get the same ones.
     *
     * @return variables by name
     */
    default Map<String, String> environment() {
        return Map.of("SLUICE_TRANSPORTS", name());
    }

    /**
     * A fresh builder with {@link #environment()} applied.
     *
     * @return the builder
     */
    default EngineOptions.Builder options() {
        return PatientOptions.builder().environment(environment());
    }

    /**
     * The settings of the target's engine, and of engines in other processes, where they differ: on another device, for
     * example.
     *
     * @return variables by name
     */
    default Map<String, String> targetEnvironment() {
        return environment();
    }

    /**
     * A fresh builder with {@link #targetEnvironment()} applied.
     *
     * @return the builder
     */
    default EngineOptions.Builder targetOptions() {
        return PatientOptions.builder().environment(targetEnvironment());
    }

    /**
     * Whether regions are locked in memory for an adapter.
     *
     * @return true if the kernel has its say in what can be registered
     */
    default boolean locksMemory() {
        return false;
    }

    /**
     * Whether an access to memory that was freed while it is registered is refused. An adapter that pins the pages goes
     * on accessing them, and no other memory reuses them.
     *
     * @return false where the pages stay
     */
    default boolean noticesFreedMemory() {
        return true;
    }

    /**
     * Whether it reaches engines in other processes.
     *
     * @return false for a transport within one process
     */
    default boolean crossesProcesses() {
        return true;
    }

    /**
     * Whether the target's process must run for a transfer to end with success. It need not where the initiator copies by
     * itself or an adapter acknowledges: then a transfer to a frozen process may succeed.
     *
     * @return true if a frozen target cannot acknowledge
     */
    default boolean needsTargetToRun() {
        return true;
    }

    /**
     * Whether a completed write is visible to the target's code at once, without a notification after it.
     *
     * @return false for a transport whose writes an adapter acknowledges
     */
    default boolean visibleOnCompletion() {
        return true;
    }

    /**
     * Whether atomic operations and signals on a region of the network adapter's domain are carried out.
     *
     * @return false where all of them come by message, so that such a region refuses them
     */
    default boolean offersAdapterAtomics() {
        return false;
    }

    /**
     * Whether small writes and reads are carried out in the calling thread, which then gets the callback as well.
     *
     * @return false where every callback comes on a poller
     */
    default boolean carriesOutInTheCall() {
        return false;
    }

    /**
     * Whether the close of a region over the user's memory waits for the peer's word, or its end, however long that takes.
     *
     * @return false where this side can keep the peer from the memory
     */
    default boolean closeNeedsThePeersWord() {
        return false;
    }

    /**
     * Whether the peer's regions are mapped into this process, for loads and stores.
     *
     * @return false where {@link io.sluice.engine.RemoteRegion#mapped()} has nothing to return
     */
    default boolean mapsRegions() {
        return false;
    }

    /**
     * The memory of the contract's regions.
     *
     * @return memory of the host that the engines allocate, unless the tests are to run on another
     */
    default ContractMemory memory() {
        return HostMemory.allocated();
    }

    /**
     * Whether the suite runs on the transport in another shape as well, which moves the largest volumes, and chains the most
     * writes, for both.
     *
     * @return true if volumes that take long are left to the other one, unless the profile is {@code large}
     */
    default boolean isVariant() {
        return false;
    }

    /**
     * Whether a small transfer takes tens of microseconds or more, because an adapter or a device in software carries it, or
     * threads hand it on several times.
     *
     * @return true if the profile {@code large} is to do a tenth of the transfers, and a quarter of the rounds of order
     */
    default boolean isSlow() {
        return false;
    }

    /**
     * The most bytes of one transfer in the short runs.
     *
     * @return less than four gibibytes where the memory that is touched for it comes in small pages, which takes long
     */
    default long mostBytesInShortRuns() {
        return Long.MAX_VALUE;
    }
}
