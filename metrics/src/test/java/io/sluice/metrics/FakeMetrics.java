package io.sluice.metrics;

import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.LatencyHistogram;
import io.sluice.engine.PeerMetrics;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.PortMetrics;
import io.sluice.engine.RefusalReason;
import io.sluice.engine.TransportMetrics;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Figures that a test sets: peers that come and go, and ports, which take hardware. All else is 0. */
final class FakeMetrics implements EngineMetrics {
    final List<PeerMetrics> peers = new CopyOnWriteArrayList<>();
    final List<PortMetrics> ports = new CopyOnWriteArrayList<>();
    final List<TransportMetrics> transports = new CopyOnWriteArrayList<>();
    final List<DeviceMetrics> devices = new CopyOnWriteArrayList<>();
    private final String name;

    FakeMetrics(String name) {
        this.name = name;
    }

    /** A peer that has done so much. */
    static final class Peer implements PeerMetrics {
        volatile long operations;
        volatile boolean connected = true;
        private final EngineId id = EngineId.random();

        Peer(long operations) {
            this.operations = operations;
        }

        @Override
        public EngineId peer() {
            return id;
        }

        @Override
        public boolean isConnected() {
            return connected;
        }

        @Override
        public long operations() {
            return operations;
        }

        @Override
        public long errors() {
            return 1;
        }

        @Override
        public long bytes() {
            return operations * 100;
        }

        @Override
        public long durationNanos() {
            return operations * 1000;
        }

        @Override
        public long inFlightOperations() {
            return 2;
        }

        @Override
        public int pending() {
            return 3;
        }

        @Override
        public long silenceNanos() {
            return 4_000_000_000L;
        }
    }

    /** A port with two counters, which says how often it was read. */
    static final class Port implements PortMetrics {
        final AtomicInteger readings = new AtomicInteger();

        @Override
        public String device() {
            return "mlx5_0";
        }

        @Override
        public int port() {
            return 1;
        }

        @Override
        public Map<String, Long> counters() {
            readings.incrementAndGet();
            return Map.of("port_xmit_data", 7L, "port_rcv_data", 8L);
        }
    }

    /** A GPU that has done so many requests. */
    record Gpu(String device, long requests) implements DeviceMetrics {
        @Override
        public long launches(Unit unit) {
            return unit == Unit.KERNEL ? 10 : 20;
        }

        @Override
        public long bytes(Unit unit) {
            return 100 * launches(unit);
        }

        @Override
        public long requestNanos() {
            return 2_000_000_000 * requests;
        }

        @Override
        public long allocatedBytes() {
            return 1 << 20;
        }

        @Override
        public long pinnedBytes() {
            return 1 << 12;
        }
    }

    @Override
    public String engine() {
        return name;
    }

    @Override
    public List<TransportMetrics> transports() {
        return List.copyOf(transports);
    }

    @Override
    public List<PollerMetrics> pollers() {
        return List.of();
    }

    @Override
    public List<PeerMetrics> peers() {
        return List.copyOf(peers);
    }

    @Override
    public List<PortMetrics> ports() {
        return List.copyOf(ports);
    }

    @Override
    public List<DeviceMetrics> devices() {
        return List.copyOf(devices);
    }

    @Override
    public InFlightWindow window() {
        return idle(InFlightWindow.class, "");
    }

    /** A transport that has done nothing. */
    static TransportMetrics idleTransport(String name) {
        return idle(TransportMetrics.class, name);
    }

    private static <T> T idle(Class<T> type, String name) {
        return type.cast(Proxy.newProxyInstance(
                FakeMetrics.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    Class<?> result = method.getReturnType();
                    if (result == int.class) {
                        return 0;
                    }
                    if (result == long.class) {
                        return 0L;
                    }
                    return result == String.class
                            ? name
                            : new LatencyHistogram(new long[LatencyHistogram.boundsNanos().length + 1], 0);
                }));
    }

    @Override
    public int pending() {
        return 0;
    }

    @Override
    public long pendingLimit() {
        return 0;
    }

    @Override
    public long pendingOverflows() {
        return 0;
    }

    @Override
    public long handshakesRefused(RefusalReason reason) {
        return reason.ordinal() + 1;
    }

    @Override
    public int halfOpen() {
        return 6;
    }

    @Override
    public int regions() {
        return 0;
    }

    @Override
    public long regionBytes() {
        return 0;
    }

    @Override
    public long lockedBytes() {
        return 0;
    }

    @Override
    public long lockedBytesLimit() {
        return Long.MAX_VALUE;
    }
}
