package io.sluice.engine.transport.verbs;

import io.sluice.engine.GuardedMemory;
import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.HostMemory;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;
import java.util.TreeMap;

/** The verbs transport on the devices that this machine has: those of a guest with softRoCE, or of the software adapter. */
final class VerbsUnderTest implements TransportUnderTest {
    private final Map<String, String> environment;
    private final Map<String, String> targetEnvironment;

    private final boolean guarded;

    private VerbsUnderTest(Map<String, String> environment, Map<String, String> targetEnvironment, boolean guarded) {
        this.environment = environment;
        this.targetEnvironment = targetEnvironment;
        this.guarded = guarded;
    }

    /** The transport on these devices. */
    static VerbsUnderTest between(String initiator, String target) {
        return new VerbsUnderTest(devices(initiator), devices(target), false);
    }

    private static Map<String, String> devices(String names) {
        Map<String, String> environment = Map.of("SLUICE_TRANSPORTS", "verbs", "SLUICE_VERBS_DEVICES", names);
        return TestDevices.areInThisProcess() ? environment : patient(environment);
    }

    /** Settings for a machine that is emulated as a whole, where live peers may be silent for long. */
    static Map<String, String> patient(Map<String, String> environment) {
        return added(added(environment, "SLUICE_CONNECT_TIMEOUT", "40s"), "SLUICE_LIVENESS_TIMEOUT", "20s");
    }

    /** The same transport with a further setting on both sides. */
    VerbsUnderTest with(String variable, String value) {
        return new VerbsUnderTest(
                added(environment, variable, value), added(targetEnvironment, variable, value), guarded);
    }

    /** The same transport with each region of the contract between two pages without access. */
    VerbsUnderTest betweenGuardPages() {
        return new VerbsUnderTest(environment, targetEnvironment, true);
    }

    private static Map<String, String> added(Map<String, String> to, String variable, String value) {
        Map<String, String> sum = new TreeMap<>(to);
        sum.put(variable, value);
        return sum;
    }

    @Override
    public String name() {
        return "verbs";
    }

    @Override
    public Map<String, String> environment() {
        return environment;
    }

    @Override
    public Map<String, String> targetEnvironment() {
        return targetEnvironment;
    }

    @Override
    public boolean crossesProcesses() {
        return !TestDevices.areInThisProcess();
    }

    @Override
    public boolean needsTargetToRun() {
        return false;
    }

    @Override
    public boolean visibleOnCompletion() {
        return false;
    }

    @Override
    public boolean locksMemory() {
        return true;
    }

    @Override
    public boolean noticesFreedMemory() {
        return false;
    }

    @Override
    public boolean offersAdapterAtomics() {
        return true;
    }

    @Override
    public boolean isVariant() {
        return guarded;
    }

    @Override
    public boolean isSlow() {
        // the software adapter, or a driver in a virtual machine
        return true;
    }

    @Override
    public ContractMemory memory() {
        return guarded ? HostMemory.registered(GuardedMemory::allocate) : HostMemory.allocated();
    }
}
