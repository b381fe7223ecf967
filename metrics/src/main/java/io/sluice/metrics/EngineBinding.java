package io.sluice.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.PortMetrics;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.TransportMetrics.PathState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one engine in one registry, shared by all bindings. Of engines with the same name and tags the first is
 * measured; when it is no longer bound, the next takes its place.
 */
final class EngineBinding {
    /** The most peers that can have their own meters. */
    static final int MOST_PEERS = 10_000;

    private static final Logger LOG = System.getLogger(EngineBinding.class.getName());
    private static final double NANOS_A_SECOND = 1e9;
    private static final double[] PERCENTILES = {0.5, 0.99};

    /** Values must not refer to their registry, so that an unused registry can be collected. */
    private static final Map<MeterRegistry, Map<Tags, List<EngineBinding>>> ALL = new WeakHashMap<>();

    /** The bindings of this registry. Of those with the same tags the meters of the first are registered. */
    private final Map<Tags, List<EngineBinding>> bound;

    private final WeakReference<MeterRegistry> registry;
    private final EngineMetrics metrics;
    private final Tags tags;
    private final int peers;
    private final @Nullable TransferExemplars exemplars;
    private final RegisteredMeters meters;
    private final List<Runnable> removals = new ArrayList<>();
    // held here, as registries hold only weak references to the objects they read
    private final List<Object> read = new ArrayList<>();
    private int holders = 1;

    private EngineBinding(
            Map<Tags, List<EngineBinding>> bound,
            MeterRegistry registry,
            EngineMetrics metrics,
            Tags tags,
            int peers,
            @Nullable TransferExemplars exemplars) {
        this.bound = bound;
        this.registry = new WeakReference<>(registry);
        this.metrics = metrics;
        this.tags = tags;
        this.peers = peers;
        this.exemplars = exemplars;
        this.meters = new RegisteredMeters(registry);
    }

    /** Registers the meters, unless the same tags are bound already. */
    static EngineBinding of(
            MeterRegistry registry,
            EngineMetrics metrics,
            Tags tags,
            int peers,
            @Nullable TransferExemplars exemplars) {
        synchronized (ALL) {
            Map<Tags, List<EngineBinding>> bound = ALL.computeIfAbsent(registry, any -> new HashMap<>());
            List<EngineBinding> siblings = bound.computeIfAbsent(tags, any -> new ArrayList<>());
            for (EngineBinding known : siblings) {
                if (known.metrics.equals(metrics)) {
                    known.holders++;
                    return known;
                }
            }
            EngineBinding binding = new EngineBinding(bound, registry, metrics, tags, peers, exemplars);
            if (siblings.isEmpty()) {
                binding.register(registry);
            } else {
                LOG.log(
                        Level.WARNING,
                        "two engines are named {0} and have the same tags: the second is measured once the meters of"
                                + " the first are closed; give each engine a name of its own",
                        metrics.engine());
            }
            siblings.add(binding);
            return binding;
        }
    }

    /** Releases one binding. */
    void release() {
        synchronized (ALL) {
            holders--;
            if (holders > 0) {
                return;
            }
            List<EngineBinding> siblings = Objects.requireNonNull(bound.get(tags));
            boolean measured = siblings.getFirst() == this;
            siblings.remove(this);
            if (siblings.isEmpty()) {
                bound.remove(tags);
            }
            if (!measured) {
                return;
            }
            meters.removeAll();
            removals.forEach(Runnable::run);
            MeterRegistry there = registry.get();
            if (!siblings.isEmpty() && there != null) {
                siblings.getFirst().register(there);
            }
        }
    }

    private void register(MeterRegistry there) {
        registerEngine();
        metrics.transports().forEach(this::registerTransport);
        metrics.pollers().forEach(this::registerPoller);
        metrics.ports().forEach(this::registerPort);
        metrics.devices().forEach(this::registerDevice);
        registerHistograms(there);
        if (peers > 0) {
            PeerMeters ofPeers = new PeerMeters(metrics, tags, peers, meters);
            read.add(ofPeers);
            ofPeers.register();
            removals.add(ofPeers::remove);
        }
    }

    private void registerEngine() {
        meters.gauge(
                EngineMeter.IN_FLIGHT_OPERATIONS,
                tags,
                metrics,
                figures -> figures.window().operations());
        meters.gauge(
                EngineMeter.IN_FLIGHT_OPERATIONS_LIMIT,
                tags,
                metrics,
                figures -> figures.window().operationLimit());
        meters.gauge(
                EngineMeter.IN_FLIGHT_BYTES,
                tags,
                metrics,
                figures -> figures.window().bytes());
        meters.gauge(
                EngineMeter.IN_FLIGHT_BYTES_LIMIT,
                tags,
                metrics,
                figures -> figures.window().byteLimit());
        meters.gauge(EngineMeter.PENDING, tags, metrics, EngineMetrics::pending);
        meters.gauge(EngineMeter.PENDING_LIMIT, tags, metrics, EngineMetrics::pendingLimit);
        meters.counter(EngineMeter.PENDING_OVERFLOW, tags, metrics, EngineMetrics::pendingOverflows);
        for (RefusalReason reason : RefusalReason.values()) {
            meters.counter(
                    EngineMeter.HANDSHAKES_REFUSED,
                    tags.and("reason", lower(reason)),
                    metrics,
                    figures -> figures.handshakesRefused(reason));
        }
        meters.gauge(EngineMeter.HALF_OPEN, tags, metrics, EngineMetrics::halfOpen);
        meters.gauge(EngineMeter.REGIONS, tags, metrics, EngineMetrics::regions);
        meters.gauge(EngineMeter.REGION_BYTES, tags, metrics, EngineMetrics::regionBytes);
        meters.gauge(EngineMeter.LOCKED_BYTES, tags, metrics, EngineMetrics::lockedBytes);
        meters.gauge(
                EngineMeter.LOCKED_BYTES_LIMIT, tags, metrics, figures -> unlessUnlimited(figures.lockedBytesLimit()));
    }

    private static double unlessUnlimited(long limit) {
        return limit == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : limit;
    }

    private void registerTransport(TransportMetrics transport) {
        read.add(transport);
        Tags own = tags.and("transport", transport.name());
        for (Operation operation : Operation.values()) {
            for (Outcome outcome : Outcome.values()) {
                Tags ended = own.and("operation", lower(operation), "outcome", lower(outcome));
                meters.counter(
                        EngineMeter.TRANSFER_OPERATIONS,
                        ended,
                        transport,
                        figures -> figures.operations(operation, outcome));
                if (operation != Operation.NOTIFY) {
                    meters.counter(
                            EngineMeter.TRANSFER_BYTES, ended, transport, figures -> figures.bytes(operation, outcome));
                }
            }
        }
        for (ErrorKind kind : ErrorKind.values()) {
            meters.counter(
                    EngineMeter.TRANSFER_ERRORS,
                    own.and("kind", lower(kind)),
                    transport,
                    figures -> figures.errors(kind));
        }
        meters.counter(
                EngineMeter.WIRE_BYTES, own.and("direction", "sent"), transport, TransportMetrics::wireBytesSent);
        meters.counter(
                EngineMeter.WIRE_BYTES,
                own.and("direction", "received"),
                transport,
                TransportMetrics::wireBytesReceived);
        meters.counter(EngineMeter.CHUNKS, own, transport, TransportMetrics::chunks);
        meters.counter(EngineMeter.CHUNKS_RESENT, own, transport, TransportMetrics::resentChunks);
        meters.counter(EngineMeter.FENCES, own, transport, TransportMetrics::fences);
        meters.gauge(EngineMeter.QUEUE_DEPTH, own, transport, TransportMetrics::queueDepth);
        meters.counter(
                EngineMeter.SERVED_BYTES,
                own.and("operation", lower(Operation.WRITE)),
                transport,
                TransportMetrics::servedWriteBytes);
        meters.counter(
                EngineMeter.SERVED_BYTES,
                own.and("operation", lower(Operation.READ)),
                transport,
                TransportMetrics::servedReadBytes);
        meters.counter(EngineMeter.SERVED_REFUSED, own, transport, TransportMetrics::refused);
        registerConnections(transport, own);
        meters.counter(EngineMeter.NOTIFICATIONS_RECEIVED, own, transport, TransportMetrics::notificationsReceived);
        meters.gauge(EngineMeter.NOTIFICATION_CREDITS, own, transport, TransportMetrics::notificationCredits);
        meters.gauge(EngineMeter.NOTIFICATIONS_WAITING, own, transport, TransportMetrics::notificationsWaiting);
    }

    private void registerConnections(TransportMetrics transport, Tags own) {
        meters.gauge(
                EngineMeter.CONNECTIONS,
                own.and("state", lower(ConnectionState.OPEN)),
                transport,
                TransportMetrics::connections);
        meters.gauge(
                EngineMeter.CONNECTIONS,
                own.and("state", lower(ConnectionState.LOST)),
                transport,
                TransportMetrics::lostPeers);
        meters.counter(EngineMeter.CONNECTIONS_OPENED, own, transport, TransportMetrics::connectionsOpened);
        meters.counter(EngineMeter.CONNECTIONS_LOST, own, transport, TransportMetrics::connectionsLost);
        meters.counter(EngineMeter.CONNECTIONS_RECONNECTED, own, transport, TransportMetrics::connectionsReconnected);
        for (PathState state : PathState.values()) {
            Tags inState = own.and("state", lower(state));
            meters.gauge(EngineMeter.LANES, inState, transport, figures -> figures.lanes(state));
            if (state != PathState.HEALING) {
                meters.gauge(EngineMeter.RAILS, inState, transport, figures -> figures.rails(state));
            }
        }
        meters.counter(EngineMeter.HEARTBEATS_MISSED, own, transport, TransportMetrics::heartbeatsMissed);
    }

    private void registerPoller(PollerMetrics poller) {
        read.add(poller);
        Tags own = tags.and("poller", Integer.toString(poller.index()));
        meters.counter(EngineMeter.POLLER_POLLS, own.and("found", "work"), poller, PollerMetrics::busyPolls);
        meters.counter(EngineMeter.POLLER_POLLS, own.and("found", "nothing"), poller, PollerMetrics::emptyPolls);
        meters.counter(EngineMeter.POLLER_COMPLETIONS, own, poller, PollerMetrics::completions);
        meters.counter(EngineMeter.POLLER_BUSY, own, poller, figures -> figures.busyNanos() / NANOS_A_SECOND);
        meters.counter(EngineMeter.POLLER_STALLS, own, poller, PollerMetrics::stalls);
    }

    private void registerPort(PortMetrics port) {
        PortReading reading = new PortReading(port);
        read.add(reading);
        Tags own = tags.and("device", port.device(), "port", Integer.toString(port.port()));
        for (String counter : port.counters().keySet()) {
            meters.counter(
                    EngineMeter.PORT_EVENTS, own.and("counter", counter), reading, ports -> ports.value(counter));
        }
    }

    private void registerDevice(DeviceMetrics device) {
        read.add(device);
        Tags own = tags.and("device", device.device());
        for (DeviceMetrics.Unit unit : DeviceMetrics.Unit.values()) {
            Tags by = own.and("unit", lower(unit));
            meters.counter(EngineMeter.DEVICE_LAUNCHES, by, device, figures -> figures.launches(unit));
            meters.counter(EngineMeter.DEVICE_BYTES, by, device, figures -> figures.bytes(unit));
        }
        meters.timer(EngineMeter.DEVICE_DURATION, own, device, DeviceMetrics::requests, DeviceMetrics::requestNanos);
        meters.gauge(EngineMeter.DEVICE_MEMORY, own.and("kind", "allocated"), device, DeviceMetrics::allocatedBytes);
        meters.gauge(EngineMeter.DEVICE_MEMORY, own.and("kind", "pinned"), device, DeviceMetrics::pinnedBytes);
    }

    private void registerHistograms(MeterRegistry there) {
        for (MeterRegistry leaf : leaves(there)) {
            for (TransportMetrics transport : metrics.transports()) {
                for (Operation operation : Operation.values()) {
                    registerHistograms(leaf, transport, operation);
                }
            }
        }
    }

    private void registerHistograms(MeterRegistry leaf, TransportMetrics transport, Operation operation) {
        Tags own = tags.and("transport", transport.name(), "operation", lower(operation));
        if (PrometheusRegistries.isOne(leaf)) {
            FunctionCounter counter = leaf.find(EngineMeter.TRANSFER_OPERATIONS.meterName())
                    .tags(own.and("outcome", lower(Outcome.SUCCESS)))
                    .functionCounter();
            Tags mapped = filtered(own, "outcome", counter);
            removals.add(PrometheusHistograms.add(leaf, transport, operation, mapped, exemplars));
            return;
        }
        RegisteredMeters ofLeaf = new RegisteredMeters(leaf);
        removals.add(ofLeaf::removeAll);
        for (TransferHistogram histogram : TransferHistogram.values()) {
            ofLeaf.register(FunctionTimer.builder(
                            histogram.meter().meterName(),
                            transport,
                            figures -> histogram.of(figures, operation).count(),
                            figures -> histogram.of(figures, operation).sumNanos(),
                            TimeUnit.NANOSECONDS)
                    .description(histogram.meter().description())
                    .tags(own)::register);
            RecentPercentiles percentiles = new RecentPercentiles(
                    () -> histogram.of(transport, operation), leaf.config().clock());
            read.add(percentiles);
            for (double phi : PERCENTILES) {
                ofLeaf.register(TimeGauge.builder(
                                histogram.meter().meterName() + ".percentile",
                                percentiles,
                                TimeUnit.NANOSECONDS,
                                recent -> recent.nanos(phi))
                        .description(histogram.meter().description())
                        .tags(own.and("phi", Double.toString(phi)))::register);
            }
        }
    }

    /**
     * Returns tags as the registry's filters change those of every meter: copied from a counter of the same operations.
     *
     * @param other the counter's tag that the tags are without
     */
    static Tags filtered(Tags own, String other, @Nullable FunctionCounter counter) {
        return counter == null
                ? own
                : Tags.of(counter.getId().getTags().stream()
                        .filter(tag -> !tag.getKey().equals(other))
                        .toList());
    }

    /** Returns the registry, or the members of a composite registry at any depth. */
    static Collection<MeterRegistry> leaves(MeterRegistry registry) {
        return registry instanceof CompositeMeterRegistry composite
                ? composite.getRegistries().stream()
                        .flatMap(member -> leaves(member).stream())
                        .distinct()
                        .toList()
                : List.of(registry);
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
