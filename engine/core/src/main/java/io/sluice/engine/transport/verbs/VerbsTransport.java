package io.sluice.engine.transport.verbs;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.PortMetrics;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.DmaBufferMemory;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.MemorySupport;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.Transport;
import io.sluice.engine.transport.TransportLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The verbs transport of one engine: its rails. */
final class VerbsTransport implements Transport {
    private static final Logger LOG = LoggerFactory.getLogger(VerbsTransport.class);
    // the specification allows 2^31; the limit only keeps a queue pair fair
    private static final long LARGEST_MESSAGE = 1L << 30;

    private static final Set<MemoryKind> ALL = Set.of(MemoryKind.values());
    private static final MemorySupport MEMORY = new MemorySupport(ALL, Set.of(), ALL, ALL);
    // what another transport exports and the adapters take
    private static final Set<MemoryKind> DEVICES =
            ALL.stream().filter(kind -> kind != MemoryKind.HOST).collect(Collectors.toUnmodifiableSet());

    private final VerbsOptions options;
    private final int sendDepth;
    private final List<Rail> rails;
    private final Capabilities capabilities;
    private final List<PortMetrics> ports;
    // the engine and each registration hold a device, which is closed after the last of them
    private final AtomicLong users = new AtomicLong(1);

    /** Opens the devices of the options; of {@code distances} see {@link PortChoice#choose}. */
    VerbsTransport(VerbsOptions options, int windowOperations, ToLongFunction<String> distances) {
        this.options = options;
        this.sendDepth = options.sendDepth(windowOperations);
        List<Rail> opened = new ArrayList<>();
        try {
            for (PortChoice choice : PortChoice.choose(options, distances)) {
                opened.add(Rail.open(opened.size(), choice, options));
            }
        } catch (RuntimeException | Error e) {
            opened.forEach(Rail::close);
            throw e;
        }
        this.rails = List.copyOf(opened);
        long largest =
                rails.stream().mapToLong(rail -> rail.port().maxMessage()).min().orElseThrow();
        int elements = rails.stream()
                .mapToInt(rail -> GatherElements.of(rail, sendDepth))
                .min()
                .orElseThrow();
        this.capabilities = new Capabilities(Math.min(largest, LARGEST_MESSAGE), true).withGatherElements(elements);
        this.ports = rails.stream()
                .<PortMetrics>map(
                        rail -> new PortCounters(rail.name(), rail.port().number()))
                .filter(port -> !port.counters().isEmpty())
                .toList();
        LOG.debug("verbs uses {}", rails);
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public MemorySupport memory() {
        return MEMORY;
    }

    @Override
    public Set<MemoryKind> partial() {
        return DEVICES;
    }

    @Override
    public RegisteredMemory register(RegionMemory memory, Set<Access> access, AtomicDomain domain) {
        if (!memory.isHost()) {
            throw new RegistrationException(
                    "adapters reach " + memory + " only as a DMA buffer, which no transport of this engine exports");
        }
        return register(memory, null, access, domain);
    }

    @Override
    public RegisteredMemory registerExported(
            RegionMemory memory, DmaBufferMemory exported, Set<Access> access, AtomicDomain domain) {
        return register(memory, exported, access, domain);
    }

    private RegisteredMemory register(
            RegionMemory memory, @Nullable DmaBufferMemory exported, Set<Access> access, AtomicDomain domain) {
        if (!hold()) {
            throw new RegistrationException("the engine is closed");
        }
        try {
            return RailRegistration.make(rails, options, memory, exported, access, domain, this::letGo);
        } catch (RuntimeException | Error e) {
            letGo();
            throw e;
        }
    }

    @Override
    public TransportLoop openLoop(EventLoop loop) {
        return new VerbsLoop(loop, options, rails, sendDepth, capabilities.gatherElements());
    }

    @Override
    public List<PortMetrics> ports() {
        return ports;
    }

    @Override
    public void close() {
        letGo();
    }

    /** Keeps the devices open until released. */
    private boolean hold() {
        long count;
        do {
            count = users.get();
            if (count == 0) {
                return false;
            }
        } while (!users.compareAndSet(count, count + 1));
        return true;
    }

    private void letGo() {
        if (users.decrementAndGet() == 0) {
            rails.forEach(Rail::close);
        }
    }
}
