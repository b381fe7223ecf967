package io.sluice.engine.memory;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.DeviceWords;
import io.sluice.engine.transport.DmaBufferMemory;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.StagedMemory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The registrations of one region with the transports of an engine, by the transport's position. Thread-safe. */
final class TransportRegistrations implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TransportRegistrations.class);

    private final @Nullable RegisteredMemory[] byTransport;
    private final boolean[] taken;
    // of a device: for the transports that carry it staged, which another one has registered
    private final boolean[] isStaged;
    private @Nullable StagedMemory staged;
    private final @Nullable RegistrationException[] refusals;

    private TransportRegistrations(int transports) {
        byTransport = new @Nullable RegisteredMemory[transports];
        taken = new boolean[transports];
        isStaged = new boolean[transports];
        refusals = new @Nullable RegistrationException[transports];
    }

    /** Returns the registrations of an engine without transports. */
    static TransportRegistrations none() {
        return new TransportRegistrations(0);
    }

    /**
     * Registers memory with each transport that supports its kind. The transport that allocated the memory has already
     * registered it.
     *
     * @throws RegistrationException if none can register it
     */
    static TransportRegistrations make(
            Collection<OpenTransport> transports,
            RegionMemory memory,
            RegionOptions options,
            @Nullable OpenTransport madeBy,
            @Nullable RegisteredMemory known) {
        TransportRegistrations made = new TransportRegistrations(transports.size());
        try {
            for (OpenTransport transport : exportersFirst(transports, memory)) {
                if (transport.equals(madeBy)) {
                    made.byTransport[transport.index()] = known;
                    made.taken[transport.index()] = true;
                } else if (transport.transport().memory().register().contains(memory.kind())) {
                    made.register(transport, memory, options);
                }
            }
            made.stage(transports, memory);
            made.checkTaken(transports, memory);
        } catch (RuntimeException | Error e) {
            made.undo(e);
            throw e;
        }
        return made;
    }

    /** Others register device memory by what the transport of the device exports. */
    private static List<OpenTransport> exportersFirst(Collection<OpenTransport> transports, RegionMemory memory) {
        List<OpenTransport> ordered = new ArrayList<>(transports);
        if (!memory.isHost()) {
            ordered.sort(Comparator.comparing(
                    each -> !each.transport().memory().allocate().contains(memory.kind())));
        }
        return ordered;
    }

    private void register(OpenTransport transport, RegionMemory memory, RegionOptions options) {
        int index = transport.index();
        DmaBufferMemory exported = exported();
        try {
            byTransport[index] = exported == null
                    ? transport.transport().register(memory, options.access(), options.atomicDomain())
                    : transport
                            .transport()
                            .registerExported(memory, exported, options.access(), options.atomicDomain());
            taken[index] = true;
        } catch (RegistrationException e) {
            refusals[index] = e;
        }
    }

    private void stage(Collection<OpenTransport> transports, RegionMemory memory) {
        for (RegisteredMemory registered : byTransport) {
            if (staged == null && registered instanceof StagedMemory device) {
                staged = device;
            }
        }
        for (OpenTransport transport : transports) {
            if (staged != null && transport.stages(memory.kind())) {
                isStaged[transport.index()] = true;
                taken[transport.index()] = true;
            }
        }
    }

    private @Nullable DmaBufferMemory exported() {
        for (RegisteredMemory registered : byTransport) {
            if (registered instanceof DmaBufferMemory exported) {
                return exported;
            }
        }
        return null;
    }

    private void checkTaken(Collection<OpenTransport> transports, RegionMemory memory) {
        List<OpenTransport> refusing = transports.stream()
                .filter(each -> refusals[each.index()] != null)
                .toList();
        if (refusing.isEmpty()) {
            return;
        }
        RegistrationException first =
                Objects.requireNonNull(refusals[refusing.getFirst().index()]);
        for (boolean one : taken) {
            if (one) {
                refusing.forEach(each -> say(each, memory));
                return;
            }
        }
        throw refusing.size() == 1
                ? first
                : new RegistrationException(
                        "no transport can register " + memory + ": "
                                + refusing.stream()
                                        .map(each -> each.name() + ": " + message(each))
                                        .collect(Collectors.joining("; ")),
                        first);
    }

    private void say(OpenTransport refusing, RegionMemory memory) {
        // a connection has another path for kinds of which a transport takes only some regions
        if (!refusing.transport().partial().contains(memory.kind()) && refusing.refused()) {
            LOG.warn(
                    "transport {} cannot register {}, which only other transports reach; existing connections may have"
                            + " no path over one of those: {}",
                    refusing.name(),
                    memory,
                    message(refusing));
        } else {
            LOG.debug("transport {} cannot register {}: {}", refusing.name(), memory, message(refusing));
        }
    }

    private String message(OpenTransport refusing) {
        return String.valueOf(Objects.requireNonNull(refusals[refusing.index()]).getMessage());
    }

    /** Whether a transport has registered the memory. */
    boolean isTakenBy(int transport) {
        return taken[transport];
    }

    /** Returns why a transport has not registered the memory; null if it has, or was not asked. */
    @Nullable
    RegistrationException refusal(int transport) {
        return refusals[transport];
    }

    @Nullable
    RegisteredMemory get(int transport) {
        return isStaged[transport] ? staged : byTransport[transport];
    }

    /** Returns the access to words of device memory; null if no transport offers it. */
    @Nullable
    DeviceWords words() {
        for (RegisteredMemory registered : byTransport) {
            if (registered instanceof DeviceWords words) {
                return words;
            }
        }
        return null;
    }

    long lockedBytes() {
        long sum = 0;
        for (RegisteredMemory registered : byTransport) {
            sum += registered == null ? 0 : registered.lockedBytes();
        }
        return sum;
    }

    /** Whether {@link #close} may wait for work of a device that nothing can end. */
    boolean waitForDevice() {
        for (RegisteredMemory registered : byTransport) {
            if (registered != null && registered.waitsForDevice()) {
                return true;
            }
        }
        return false;
    }

    private void undo(Throwable why) {
        try {
            close();
        } catch (RuntimeException e) {
            why.addSuppressed(e);
        }
    }

    /**
     * Ends all. May block.
     *
     * @throws RuntimeException if one could not be ended, so that an adapter or device may still touch the memory
     */
    @Override
    public void close() {
        // adapters let go of exported memory before the device does
        RuntimeException first = close(false, null);
        first = close(true, first);
        if (first != null) {
            throw first;
        }
    }

    private @Nullable RuntimeException close(boolean exporting, @Nullable RuntimeException earlier) {
        RuntimeException first = earlier;
        for (RegisteredMemory registered : byTransport) {
            if (registered != null && registered instanceof DmaBufferMemory == exporting) {
                try {
                    registered.close();
                } catch (RuntimeException e) {
                    LOG.error("the registration {} could not be ended", registered, e);
                    first = first == null ? e : first;
                }
            }
        }
        return first;
    }
}
