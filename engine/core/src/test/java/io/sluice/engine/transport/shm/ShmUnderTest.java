package io.sluice.engine.transport.shm;

import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.HostMemory;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;
import java.util.TreeMap;

/** The shared-memory transport, with regions of the engine's or of the user's own memory. */
final class ShmUnderTest implements TransportUnderTest {
    // some regions of the contract are larger than what is touched of them
    private static final Map<String, String> SPARSE =
            Map.of("SLUICE_TRANSPORTS", "shm", "SLUICE_SHM_PREFAULT", "false");

    private final boolean registers;
    private final Map<String, String> environment;

    private ShmUnderTest(boolean registers, Map<String, String> environment) {
        this.registers = registers;
        this.environment = environment;
    }

    /** Regions that the engine allocates. */
    static ShmUnderTest allocated() {
        return new ShmUnderTest(false, SPARSE);
    }

    /** Regions over the user's memory, by cross-memory attach. */
    static ShmUnderTest registered() {
        return registeredByWire().with("SLUICE_SHM_CROSS_MEMORY_ATTACH", "true");
    }

    /** Regions over the user's memory, by the connection's tcp path. */
    static ShmUnderTest registeredByWire() {
        return new ShmUnderTest(true, SPARSE).with("CONTRACT_REGISTERS_MEMORY", "true");
    }

    /** Regions that the engine allocates, each right at a guard page. */
    static ShmUnderTest guarded() {
        return allocated().with("SLUICE_TRANSPORTS", GuardedShmTransportProvider.NAME);
    }

    /** The same transport with a further setting on both sides. */
    ShmUnderTest with(String variable, String value) {
        Map<String, String> sum = new TreeMap<>(environment);
        sum.put(variable, value);
        return new ShmUnderTest(registers, sum);
    }

    @Override
    public String name() {
        return environment.get("SLUICE_TRANSPORTS");
    }

    @Override
    public Map<String, String> environment() {
        return environment;
    }

    @Override
    public boolean needsTargetToRun() {
        return false;
    }

    @Override
    public boolean noticesFreedMemory() {
        return !environment.containsKey("SLUICE_SHM_CROSS_MEMORY_ATTACH");
    }

    @Override
    public boolean carriesOutInTheCall() {
        return !"0".equals(environment.get("SLUICE_SHM_CALLER_THREAD_BYTES"));
    }

    @Override
    public boolean closeNeedsThePeersWord() {
        return environment.containsKey("SLUICE_SHM_CROSS_MEMORY_ATTACH");
    }

    @Override
    public boolean mapsRegions() {
        return !registers;
    }

    @Override
    public ContractMemory memory() {
        return registers ? HostMemory.registered() : HostMemory.allocated();
    }

    @Override
    public boolean isVariant() {
        return registers || !"shm".equals(name());
    }

    @Override
    public long mostBytesInShortRuns() {
        return 512 << 20;
    }
}
