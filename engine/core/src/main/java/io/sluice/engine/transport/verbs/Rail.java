package io.sluice.engine.transport.verbs;

import io.sluice.engine.TransportUnavailableException;
import io.sluice.jni.Memory;
import io.sluice.jni.VerbsDevice;
import io.sluice.jni.VerbsMemory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An open device with the port in use; owns its regions, queue pairs and queues. Lives as long as the transport. */
final class Rail {
    private final int index;
    private final String name;
    private final long device;
    private final long domain;
    private final DeviceLimits limits;
    private final Port port;
    private final Gid gid;
    // memory that a peer reads to verify that its writes have arrived
    private final long flushWord;
    private final long flushWordRegion;
    private final List<RailWatcher> watchers = new CopyOnWriteArrayList<>();
    private volatile boolean active = true;
    private volatile boolean removed;

    private Rail(int index, PortChoice choice, VerbsOptions options) {
        this.index = index;
        this.name = choice.device();
        this.device = Native.available(VerbsDevice.open(name), name, "be opened");
        long openedDomain = 0;
        long memory = 0;
        try {
            limits = DeviceLimits.query(device, name);
            if (limits.receiveQueueDepth() == 0) {
                throw new TransportUnavailableException(name + " has no shared receive queues, which Sluice needs");
            }
            if (limits.sendDepth() < VerbsOptions.LEAST_SEND_DEPTH) {
                throw new TransportUnavailableException(name + " takes " + limits.sendDepth()
                        + " work requests a queue pair; Sluice needs " + VerbsOptions.LEAST_SEND_DEPTH);
            }
            port = Port.query(device, name, choice.port());
            gid = port.gid(device, name, options.gidIndex());
            openedDomain = Native.available(
                    VerbsDevice.allocateProtectionDomain(device), name, "allocate a protection domain");
            domain = openedDomain;
            memory = Native.available(Memory.map(Memory.pageSize(), true), name, "get a page of memory");
            flushWord = memory;
            flushWordRegion = Native.available(
                    VerbsMemory.register(domain, flushWord, Memory.pageSize(), VerbsMemory.REMOTE_READ),
                    name,
                    "register a page of memory");
        } catch (RuntimeException | Error e) {
            if (memory > 0) {
                Memory.unmap(memory, Memory.pageSize());
            }
            if (openedDomain > 0) {
                VerbsDevice.freeProtectionDomain(openedDomain);
            }
            VerbsDevice.close(device);
            throw e;
        }
    }

    /**
     * Opens a device.
     *
     * @throws TransportUnavailableException if it cannot be used; the message says what to do
     */
    static Rail open(int index, PortChoice choice, VerbsOptions options) {
        return new Rail(index, choice, options);
    }

    /** Its index among the rails of the transport. */
    int index() {
        return index;
    }

    String name() {
        return name;
    }

    long device() {
        return device;
    }

    long domain() {
        return domain;
    }

    DeviceLimits limits() {
        return limits;
    }

    Port port() {
        return port;
    }

    Gid gid() {
        return gid;
    }

    long flushWord() {
        return flushWord;
    }

    int flushWordKey() {
        return VerbsMemory.remoteKey(flushWordRegion);
    }

    /** The watchers of its events. Any thread. */
    List<RailWatcher> watchers() {
        return watchers;
    }

    /** Whether lanes on it are expected to work. Any thread. */
    boolean isUsable() {
        return active && !removed;
    }

    boolean isRemoved() {
        return removed;
    }

    void active(boolean isActive) {
        active = isActive;
    }

    void removed() {
        removed = true;
    }

    /** Queries the state of the port. */
    boolean isPortActive() {
        try {
            return !removed && Port.query(device, name, port.number()).isActive();
        } catch (TransportUnavailableException e) {
            // the device was removed, but the event has not been delivered yet
            return false;
        }
    }

    /** Closes the device after all its queues and regions are gone. */
    void close() {
        VerbsMemory.deregister(flushWordRegion);
        Memory.unmap(flushWord, Memory.pageSize());
        VerbsDevice.freeProtectionDomain(domain);
        VerbsDevice.close(device);
    }

    @Override
    public String toString() {
        return name + ":" + port.number();
    }
}
