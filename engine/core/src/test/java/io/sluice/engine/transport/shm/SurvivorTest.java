package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.testkit.EngineSums;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Peers that are killed while they transfer leave nothing behind at the survivor. The system property
 * {@code sluice.test.survivor-cycles} says how many, else the test's own number is taken.
 */
class SurvivorTest {
    private static final int WARM_UP_CYCLES = 2;
    // what one peer leaves behind is seen after one: the soak run kills many
    private static final int CYCLES = 3;
    private static final int CYCLES_BY_CROSS_MEMORY = 2;
    private static final int SOAK_CYCLES = 1000;

    /** How often a run makes and kills a peer. */
    private static int cycles(int otherwise) {
        return Integer.getInteger("sluice.test.survivor-cycles", otherwise);
    }

    /** The survivor's load on one peer until its end. */
    private static final class Load {
        private final MemoryRegion own;
        private final RemoteRegion remote;
        private final AtomicInteger begun = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();
        private final AtomicInteger failed = new AtomicInteger();

        Load(MemoryRegion own, RemoteRegion remote) {
            this.own = own;
            this.remote = remote;
        }

        void begin() {
            write(DyingPeer.SMALL_BYTES);
            write(DyingPeer.LARGE_BYTES);
            read(DyingPeer.LARGE_BYTES);
        }

        private void write(long bytes) {
            begun.incrementAndGet();
            try {
                remote.connection()
                        .write(own, bytes, remote, bytes, bytes, TransferOptions.defaults(), (transfer, error) -> {
                            if (!ended(error)) {
                                write(bytes);
                            }
                        });
            } catch (SluiceException refused) {
                ended(refused);
            }
        }

        private void read(long bytes) {
            begun.incrementAndGet();
            try {
                remote.connection()
                        .read(own, bytes, remote, bytes, bytes, TransferOptions.defaults(), (transfer, error) -> {
                            if (!ended(error)) {
                                read(bytes);
                            }
                        });
            } catch (SluiceException refused) {
                ended(refused);
            }
        }

        private boolean ended(@Nullable SluiceException error) {
            ended.incrementAndGet();
            if (error != null) {
                failed.incrementAndGet();
            }
            return error != null;
        }

        void assertEachHasEndedOnce() {
            Patience.until("all three chains have failed", () -> failed.get() == 3);
            assertThat(ended).hasValue(begun.get());
        }
    }

    private static final class Survivor implements AutoCloseable {
        private final Map<String, String> peers;
        private final TransferEngine engine;
        private final MemoryRegion region;
        private final BlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        private @Nullable RegionDescriptor ofTheDead;
        private @Nullable DyingPeerProcess next;

        Survivor(boolean crossMemory) {
            peers = Map.of("SLUICE_TRANSPORTS", "shm", DyingPeer.CROSS_MEMORY, Boolean.toString(crossMemory));
            engine = TransferEngine.open(PatientOptions.builder()
                    .transports(List.of("shm"))
                    .transport(
                            ShmOptions.builder().crossMemoryAttach(crossMemory).build())
                    .build());
            engine.onConnection(accepted::add);
            region = DyingPeer.region(engine, crossMemory);
        }

        void run(int cycles) {
            next = DyingPeerProcess.start(peers);
            for (int cycle = 1; cycle <= cycles; cycle++) {
                try (DyingPeerProcess peer = next) {
                    // it starts while this one lives
                    next = cycle < cycles ? DyingPeerProcess.start(peers) : null;
                    meet(peer, cycle);
                }
            }
        }

        private void meet(DyingPeerProcess peer, long number) {
            region.segment().set(ValueLayout.JAVA_LONG, 0, 0);
            RegionDescriptor theirs = peer.connectTo(engine, region.descriptor(), number);
            Connection connection = Patience.take("the peer's connection", accepted);
            assertThat(connection.transport()).isEqualTo("shm");
            assertThat(region.segment().get(ValueLayout.JAVA_LONG, 0))
                    .as("what the peer has written")
                    .isEqualTo(number);
            RegionDescriptor dead = ofTheDead;
            if (dead != null) {
                assertThat(theirs.epoch()).isNotEqualTo(dead.epoch());
                Patience.failure(connection.attach(dead), SluiceException.class);
            }
            Load load = new Load(region, Patience.await(connection.attach(theirs)));
            load.begin();
            Patience.until("it has done some", () -> load.ended.get() > 20);
            peer.kill();
            Patience.failure(connection.ended(), ConnectionLostException.class);
            load.assertEachHasEndedOnce();
            Patience.await(connection.quiesced());
            ofTheDead = theirs;
        }

        @Override
        public void close() {
            DyingPeerProcess left = next;
            if (left != null) {
                left.close();
            }
            engine.close();
        }
    }

    private static void assertNothingStays(boolean crossMemory, int cycles) {
        ProcessResources outside = ProcessResources.now();
        try (Survivor survivor = new Survivor(crossMemory)) {
            survivor.run(WARM_UP_CYCLES);
            long started = System.nanoTime();
            // the last peer's may be given back a moment later
            long own = crossMemory ? 0 : 1;
            Patience.until("regions are unmapped", () -> ProcessResources.mappings("sluice-region") == own);
            Patience.until("segments are unmapped", () -> ProcessResources.mappings("sluice-control") == 0);
            ProcessResources before = ProcessResources.now();
            survivor.run(cycles);
            before.assertRegained();
            assertThat(ProcessResources.mappings("sluice-region"))
                    .as("the survivor's own region alone")
                    .isEqualTo(own);
            assertThat(ProcessResources.mappings("sluice-control")).isZero();
            Patience.until(
                    "nothing is counted any more",
                    () -> EngineSums.ofTransports(survivor.engine, TransportMetrics::connections) == 0
                            && survivor.engine.metrics().window().operations() == 0
                            && survivor.engine.metrics().window().bytes() == 0);
            System.out.println("SurvivorTest: " + cycles + " peers killed in "
                    + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started) + " ms; " + ProcessResources.now());
        }
        outside.assertRegained();
    }

    @ParameterizedTest
    @Tag("soak")
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    @ValueSource(booleans = false)
    void killedPeersLeaveNothingThatIsCopied(boolean crossMemory) {
        killedPeersLeaveNothing(crossMemory);
    }

    @ParameterizedTest
    @ValueSource(booleans = true)
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void killedPeersLeaveNothing(boolean crossMemory) {
        assertNothingStays(crossMemory, cycles(crossMemory ? CYCLES_BY_CROSS_MEMORY : CYCLES));
    }

    @Test
    @Tag("soak")
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    void thousandKilledPeersLeaveNothing() {
        assertNothingStays(false, cycles(SOAK_CYCLES));
    }
}
