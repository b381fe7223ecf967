package io.sluice.engine.memory;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.RegisteredMemory;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the transports of an engine know of one region, each at its place among them. Any thread. */
final class Registrations implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Registrations.class);

    private final @Nullable RegisteredMemory[] byTransport;

    private Registrations(int transports) {
        byTransport = new @Nullable RegisteredMemory[transports];
    }

    /** Of an engine without transports. */
    static Registrations none() {
        return new Registrations(0);
    }

    /**
     * Registers memory with each transport for memory of its kind, or with none if one does not take it. The transport that has
     * made the memory knows it already.
     */
    static Registrations make(
            Collection<OpenTransport> transports,
            RegionMemory memory,
            RegionOptions options,
            @Nullable OpenTransport madeBy,
            @Nullable RegisteredMemory known) {
        Registrations made = new Registrations(transports.size());
        try {
            for (OpenTransport transport : transports) {
                if (transport.equals(madeBy)) {
                    made.byTransport[transport.index()] = known;
                } else if (transport.transport().memory().register().contains(memory.kind())) {
                    made.byTransport[transport.index()] =
                            transport.transport().register(memory, options.access(), options.atomicDomain());
                }
            }
        } catch (RuntimeException | Error e) {
            made.close();
            throw e;
        }
        return made;
    }

    @Nullable
    RegisteredMemory get(int transport) {
        return byTransport[transport];
    }

    long lockedBytes() {
        long sum = 0;
        for (RegisteredMemory registered : byTransport) {
            sum += registered == null ? 0 : registered.lockedBytes();
        }
        return sum;
    }

    /** It may block. */
    @Override
    public void close() {
        for (RegisteredMemory registered : byTransport) {
            if (registered != null) {
                try {
                    registered.close();
                } catch (RuntimeException e) {
                    LOG.error("a registration could not be ended", e);
                }
            }
        }
    }
}
