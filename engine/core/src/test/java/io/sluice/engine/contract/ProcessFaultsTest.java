package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A peer's process meets a fault at a random point of a load: with every fault each transfer of the survivor gives one
 * signal, no byte is another than it should be, and nothing of the connection stays. The system property
 * {@code sluice.test.fault-rounds} says how many rounds, over both transports together; {@code sluice.test.seed} says
 * which.
 */
@Tag("filler")
class ProcessFaultsTest {
    private static final ContractMemory MEMORY = HostMemory.allocated();
    private static final int ROUNDS = 3;
    private static final int SOAK_ROUNDS = 250;
    private static final int TRANSFERS = 32;
    private static final int MAX_PENDING = 64;
    private static final long PATTERN = 5;
    private static final long REGION_BYTES = 1 << 20;
    private static final Duration LIVENESS = Patience.scaled(Duration.ofSeconds(1));
    private static final long MOST_NANOS_OF_LOAD = 60_000_000;

    /** The faults of the peer's process. */
    private enum Fault {
        KILL,
        FREEZE_FOR_EVER,
        FREEZE_AND_THAW,
        NO_DESCRIPTORS,
        NO_LOCKED_MEMORY,
        FULL_POOL
    }

    private static TransferEngine engineOf(String transport, Duration connectTimeout) {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of(transport))
                .livenessTimeout(LIVENESS)
                .connectTimeout(connectTimeout)
                .maxPending(MAX_PENDING)
                .build());
    }

    private static int rounds() {
        boolean soak = System.getProperty("sluice.test.profile", "").equals("soak");
        return Integer.getInteger("sluice.test.fault-rounds", 2 * (soak ? SOAK_ROUNDS : ROUNDS)) / 2;
    }

    /** Transfers that start each other until one fails, or until the load is stopped. */
    private static final class Load {
        private final Connection connection;
        private final MemoryRegion own;
        private final RemoteRegion remote;
        private final AtomicLong begun = new AtomicLong();
        private final AtomicLong ended = new AtomicLong();
        private final AtomicLong twice = new AtomicLong();
        private final AtomicInteger chains = new AtomicInteger();
        private final AtomicInteger overflows = new AtomicInteger();
        private volatile boolean stopping;

        Load(Connection connection, MemoryRegion own, RemoteRegion remote) {
            this.connection = connection;
            this.own = own;
            this.remote = remote;
        }

        void begin(int count, Random random) {
            for (int i = 0; i < count; i++) {
                chains.incrementAndGet();
                next(1L << random.nextInt(4, 19), i % 2 == 0);
            }
        }

        private void next(long bytes, boolean write) {
            if (stopping) {
                chains.decrementAndGet();
                return;
            }
            begun.incrementAndGet();
            AtomicInteger signals = new AtomicInteger();
            try {
                if (write) {
                    connection.write(
                            own,
                            0,
                            remote,
                            0,
                            bytes,
                            TransferOptions.defaults(),
                            (transfer, error) -> end(signals, error, bytes, true));
                } else {
                    connection.read(
                            own,
                            0,
                            remote,
                            0,
                            bytes,
                            TransferOptions.defaults(),
                            (transfer, error) -> end(signals, error, bytes, false));
                }
            } catch (TooManyPendingException full) {
                overflows.incrementAndGet();
                begun.decrementAndGet();
                chains.decrementAndGet();
            } catch (SluiceException refused) {
                begun.decrementAndGet();
                chains.decrementAndGet();
            }
        }

        private void end(AtomicInteger signals, @Nullable SluiceException error, long bytes, boolean write) {
            if (signals.incrementAndGet() > 1) {
                twice.incrementAndGet();
                return;
            }
            ended.incrementAndGet();
            if (error == null) {
                next(bytes, write);
            } else {
                chains.decrementAndGet();
            }
        }

        void stop() {
            stopping = true;
        }

        void assertEachHasEndedOnce() {
            Patience.until("all chains have ended", () -> chains.get() == 0);
            assertThat(ended.get()).isEqualTo(begun.get());
            assertThat(twice).hasValue(0);
        }
    }

    private static final class Tally {
        private final Map<Fault, Integer> faults = new EnumMap<>(Fault.class);
        private long transfers;
        private long failures;
        private int overflows;
        private int compared;
        private int peersCompared;

        @Override
        public String toString() {
            return faults + ", " + transfers + " transfers, " + overflows + " refused by a full pool, " + failures
                    + " connections lost, the survivor's bytes compared in " + compared + " rounds and the peer's in "
                    + peersCompared;
        }
    }

    private static long mappings() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("sluice-")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("sluice"))
                .count();
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "shm")
    void survivorKeepsNothingOfOtherTransports(String transport) {
        survivorKeepsNothing(transport);
    }

    @ParameterizedTest
    @ValueSource(strings = "tcp")
    void survivorKeepsNothing(String transport) {
        Random random = ContractProfile.random("ProcessFaultsTest " + transport);
        Tally tally = new Tally();
        int rounds = rounds();
        long started = System.nanoTime();
        try (TransferEngine engine = engineOf(transport, Patience.BOUND);
                TransferEngine stranger = engineOf(transport, Duration.ofSeconds(1))) {
            MemoryRegion own = MEMORY.allocate(engine, REGION_BYTES, RegionOptions.readWrite());
            BytePattern.fill(MEMORY.bytes(own), PATTERN);
            round(engine, stranger, transport, own, Fault.KILL, random, new Tally());
            Patience.until("the first peer is gone", () -> engine.connections().isEmpty());
            int descriptors = OpenDescriptors.count();
            long mappings = mappings();
            long threads = threads();
            for (int i = 0; i < rounds; i++) {
                Fault fault = Fault.values()[(i + random.nextInt(2)) % Fault.values().length];
                round(engine, stranger, transport, own, fault, random, tally);
                Patience.until(
                        "no connection is left", () -> engine.connections().isEmpty());
                assertThat(engine.metrics().window().operations()).isZero();
                assertThat(engine.metrics().window().bytes()).isZero();
            }
            OpenDescriptors.assertSettleAt(descriptors);
            Patience.until("mappings are given back", () -> mappings() <= mappings);
            Patience.until("no thread is left", () -> threads() <= threads);
            // a lease that is never released would keep it open
            Patience.await(own.close());
        }
        System.out.println("ProcessFaultsTest " + transport + ": " + rounds + " rounds, " + tally + ", "
                + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started) + " ms");
    }

    private static void round(
            TransferEngine engine,
            TransferEngine stranger,
            String transport,
            MemoryRegion own,
            Fault fault,
            Random random,
            Tally tally) {
        TransportUnderTest under = () -> transport;
        Map<String, String> settings = Map.of("SLUICE_LIVENESS_TIMEOUT", LIVENESS.toMillis() + "ms");
        try (PeerProcess peer = PeerProcess.start(under, settings, REGION_BYTES)) {
            RemoteRegion remote = attached(engine, peer);
            Connection connection = remote.connection();
            assertThat(connection.transport()).isEqualTo(transport);
            // both sides have the same bytes, so that no transfer may change any
            peer.fill(0, PATTERN);
            int checksum = BytePattern.checksum(MEMORY.bytes(own));
            assertThat(peer.checksum(0, 0, REGION_BYTES)).isEqualTo(checksum);
            Load load = new Load(connection, own, remote);
            load.begin(TRANSFERS, random);
            LockSupport.parkNanos(random.nextLong(MOST_NANOS_OF_LOAD));
            meet(fault, stranger, peer, load, random);
            load.assertEachHasEndedOnce();
            Patience.await(connection.quiesced());
            assertThat(BytePattern.checksum(MEMORY.bytes(own)))
                    .as("the survivor's bytes")
                    .isEqualTo(checksum);
            if (fault == Fault.FREEZE_FOR_EVER) {
                // for the connection it was for ever; its memory can still be looked at
                peer.thaw();
            }
            if (fault != Fault.KILL) {
                assertThat(peer.checksum(0, 0, REGION_BYTES))
                        .as("the peer's bytes")
                        .isEqualTo(checksum);
                tally.peersCompared++;
            }
            tally.compared++;
            tally.failures += connection.state() == ConnectionState.LOST ? 1 : 0;
            tally.faults.merge(fault, 1, Integer::sum);
            tally.transfers += load.ended.get();
            tally.overflows += load.overflows.get();
        }
    }

    /** Over a connection that outlasts a busy machine for so long: its liveness time-out is short. */
    private static RemoteRegion attached(TransferEngine engine, PeerProcess peer) {
        AtomicReference<RemoteRegion> attached = new AtomicReference<>();
        Patience.until("the peer connects and attaches", () -> {
            try {
                Connection connection = Patience.await(engine.connect(peer.address()));
                attached.set(Patience.await(connection.attach(peer.region(0))));
                return true;
            } catch (ConnectionLostException early) {
                return false;
            }
        });
        return attached.get();
    }

    private static void meet(Fault fault, TransferEngine stranger, PeerProcess peer, Load load, Random random) {
        switch (fault) {
            case KILL -> peer.kill();
            case FREEZE_FOR_EVER -> {
                peer.freeze();
                // where the initiator copies by itself, transfers go on until the connection ends
                Patience.until(
                        "the frozen peer is given up",
                        () -> load.connection.ended().toCompletableFuture().isDone());
            }
            case FREEZE_AND_THAW -> {
                peer.freeze();
                LockSupport.parkNanos(random.nextLong(LIVENESS.toNanos() / 4));
                peer.thaw();
                LockSupport.parkNanos(MOST_NANOS_OF_LOAD / 4);
                leave(load);
            }
            case NO_DESCRIPTORS -> {
                peer.limit("nofile", 3);
                // who comes now is not let in, and who is there is served
                try {
                    Patience.await(
                            Patience.await(stranger.connect(peer.address())).close());
                } catch (SluiceException refused) {
                    assertThat(refused.getMessage()).isNotEmpty();
                }
                leave(load);
            }
            case NO_LOCKED_MEMORY -> {
                peer.limit("memlock", 0);
                peer.send("allocate " + REGION_BYTES);
                assertThat(peer.nextAnswer("allocate")).matches("(OK|ERROR) .*");
                leave(load);
            }
            case FULL_POOL -> {
                peer.freeze();
                for (int i = 0; i < 4; i++) {
                    load.begin(MAX_PENDING, random);
                }
                peer.thaw();
                LockSupport.parkNanos(MOST_NANOS_OF_LOAD / 4);
                leave(load);
            }
        }
    }

    private static void leave(Load load) {
        load.stop();
        Patience.until("the chains stop", () -> load.chains.get() == 0);
        Patience.await(load.connection.close());
    }
}
