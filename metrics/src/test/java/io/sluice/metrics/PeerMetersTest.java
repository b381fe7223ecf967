package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.search.RequiredSearch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Peers come and go, and their meters stay bounded. */
class PeerMetersTest {
    private final FakeMetrics metrics = new FakeMetrics("one");
    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final EngineMeters meters = new EngineMeters(metrics, Tags.empty(), 2, null);

    @AfterEach
    void close() {
        meters.close();
    }

    @Test
    void peersBeyondTheBoundAreOneAndNothingIsLost() {
        FakeMetrics.Peer first = new FakeMetrics.Peer(1);
        metrics.peers.add(first);
        meters.bindTo(registry);
        metrics.peers.add(new FakeMetrics.Peer(10));
        FakeMetrics.Peer third = new FakeMetrics.Peer(100);
        metrics.peers.add(third);
        FakeMetrics.Peer fourth = new FakeMetrics.Peer(1000);
        metrics.peers.add(fourth);
        assertThat(operations("other")).isEqualTo(1100);
        assertThat(labels()).hasSize(3).contains("other", first.peer().toString());
        assertThat(registry.get(EngineMeter.PEER_BYTES.meterName())
                        .tag("peer", "other")
                        .functionCounter()
                        .count())
                .isEqualTo(110_000);
        assertThat(registry.get(EngineMeter.PEER_PENDING.meterName())
                        .tag("peer", "other")
                        .gauge()
                        .value())
                .isEqualTo(6);
        assertThat(registry.get(EngineMeter.PEER_SILENCE.meterName())
                        .tag("peer", "other")
                        .gauge()
                        .value())
                .isEqualTo(4);

        third.operations = 150;
        metrics.peers.remove(third);
        assertThat(operations("other")).as("what is gone has been done").isEqualTo(1150);

        metrics.peers.remove(first);
        FakeMetrics.Peer fifth = new FakeMetrics.Peer(5);
        metrics.peers.add(fifth);
        assertThat(operations("other")).as("the place of the first is free").isEqualTo(1150);
        assertThat(operations(fifth.peer().toString())).isEqualTo(5);
        assertThat(labels())
                .hasSize(3)
                .doesNotContain(first.peer().toString(), fourth.peer().toString());

        meters.close();
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void aPeerThatIsGoneMakesRoomForOneThatIsThere() {
        FakeMetrics.Peer first = new FakeMetrics.Peer(1);
        FakeMetrics.Peer second = new FakeMetrics.Peer(2);
        metrics.peers.addAll(List.of(first, second));
        meters.bindTo(registry);
        assertThat(operations("other")).isZero();
        first.connected = false;
        FakeMetrics.Peer third = new FakeMetrics.Peer(3);
        metrics.peers.add(third);
        assertThat(operations("other")).isZero();
        assertThat(labels())
                .containsExactlyInAnyOrder(
                        "other", second.peer().toString(), third.peer().toString());

        second.connected = false;
        first.connected = true;
        assertThat(operations("other")).as("it is back").isZero();
        assertThat(labels())
                .containsExactlyInAnyOrder(
                        "other", first.peer().toString(), third.peer().toString());
        assertThat(operations(first.peer().toString())).isEqualTo(1);

        FakeMetrics.Peer late = new FakeMetrics.Peer(7);
        metrics.peers.add(late);
        assertThat(operations("other"))
                .as("all that have a place are connected")
                .isEqualTo(7);
    }

    @Test
    void theyAreOptedInto() {
        metrics.peers.add(new FakeMetrics.Peer(1));
        try (EngineMeters plain = new EngineMeters(metrics, Tags.empty(), 0, null)) {
            plain.bindTo(registry);
            assertThat(registry.getMeters())
                    .isNotEmpty()
                    .noneMatch(meter -> meter.getId().getName().startsWith("sluice.peer."));
        }
        assertThatThrownBy(() -> new EngineMeters.Builder(metrics).peers(-1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aPortIsReadOnceForAllItsCounters() {
        FakeMetrics.Port port = new FakeMetrics.Port();
        metrics.ports.add(port);
        meters.bindTo(registry);
        int before = port.readings.get();
        assertThat(registry.get(EngineMeter.PORT_EVENTS.meterName()).functionCounters())
                .hasSize(2)
                .extracting(FunctionCounter::count)
                .containsExactlyInAnyOrder(7.0, 8.0);
        assertThat(port.readings.get() - before).isBetween(1, 2);
        assertThat(registry.get(EngineMeter.PORT_EVENTS.meterName())
                        .tags("device", "mlx5_0", "port", "1", "counter", "port_rcv_data")
                        .functionCounter()
                        .count())
                .isEqualTo(8);
    }

    @Test
    void aGpuTellsItsWorkByUnitAndItsMemoryByKind() {
        metrics.devices.add(new FakeMetrics.Gpu("GPU-1", 3));
        meters.bindTo(registry);
        assertThat(gpu(EngineMeter.DEVICE_LAUNCHES, "unit", "kernel")
                        .functionCounter()
                        .count())
                .isEqualTo(10);
        assertThat(gpu(EngineMeter.DEVICE_BYTES, "unit", "copy_engine")
                        .functionCounter()
                        .count())
                .isEqualTo(2000);
        FunctionTimer timer = registry.get(EngineMeter.DEVICE_DURATION.meterName())
                .tag("device", "GPU-1")
                .functionTimer();
        assertThat(timer.count()).isEqualTo(3);
        assertThat(timer.totalTime(TimeUnit.SECONDS)).isEqualTo(6);
        assertThat(gpu(EngineMeter.DEVICE_MEMORY, "kind", "allocated").gauge().value())
                .isEqualTo(1 << 20);
        assertThat(gpu(EngineMeter.DEVICE_MEMORY, "kind", "pinned").gauge().value())
                .isEqualTo(1 << 12);
    }

    private RequiredSearch gpu(EngineMeter meter, String key, String value) {
        return registry.get(meter.meterName()).tags("device", "GPU-1", key, value);
    }

    @Test
    void noLimitIsInfinite() {
        meters.bindTo(registry);
        assertThat(registry.get(EngineMeter.LOCKED_BYTES_LIMIT.meterName())
                        .gauge()
                        .value())
                .isInfinite();
    }

    private double operations(String peer) {
        return registry.get(EngineMeter.PEER_OPERATIONS.meterName())
                .tag("peer", peer)
                .functionCounter()
                .count();
    }

    private Set<String> labels() {
        return registry.getMeters().stream()
                .map(meter -> meter.getId().getTag("peer"))
                .filter(peer -> peer != null)
                .collect(Collectors.toSet());
    }
}
