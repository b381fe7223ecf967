package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Many connections, many regions and many connects after each other, over tcp: what an engine takes of threads, memory, sockets
 * and ports for them is bounded. A tenth of it by default, the whole in the soak profile.
 */
class ScaleTest {
    private static final boolean SOAK =
            System.getProperty("sluice.test.profile", "").equals("soak");
    private static final int CONNECTIONS = SOAK ? 1_000 : 100;
    private static final int REGIONS = SOAK ? 10_000 : 1_000;
    private static final int CONNECTS = SOAK ? 6_000 : 200;
    private static final int CONNECTS_A_SECOND = SOAK ? 100 : 400;
    private static final int ATTACHED_AT_ONCE = 1_000;
    private static final int BYTES = 4096;
    private static final long BYTES_A_CONNECTION = 128 << 10;
    private static final int STILL_CLOSING = 20;
    private static final String TIME_WAIT = "06";

    private final int descriptors = OpenDescriptors.count();
    private final TransferEngine target = open();
    private final TransferEngine initiator = open();

    private static TransferEngine open() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("tcp"))
                .lanes(1)
                .connectTimeout(Patience.BOUND)
                .maxAttachedRegions(REGIONS)
                .build());
    }

    @AfterEach
    void close() {
        Patience.await(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
        OpenDescriptors.assertSettleAt(descriptors);
    }

    private static int threads() {
        return Thread.getAllStackTraces().size();
    }

    private static long heapAfterCollection() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static CompletableFuture<Void> write(Connection connection, MemoryRegion from, RemoteRegion to) {
        CompletableFuture<Void> written = new CompletableFuture<>();
        connection.write(from, 0, to, 0, BYTES, TransferOptions.defaults(), (transfer, error) -> end(written, error));
        return written;
    }

    private static void end(CompletableFuture<Void> future, SluiceException error) {
        if (error == null) {
            future.complete(null);
        } else {
            future.completeExceptionally(error);
        }
    }

    @Test
    void connectionsToOneEngine() {
        MemoryRegion source = initiator.allocate(BYTES, RegionOptions.local());
        MemoryRegion served = target.allocate(BYTES, RegionOptions.readWrite());
        Patience.await(Patience.await(initiator.connect(target.address())).close());
        int threads = threads();
        long heap = heapAfterCollection();
        List<Connection> connections = new ArrayList<>();
        List<CompletableFuture<Connection>> connecting = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            connecting.add(initiator.connect(target.address()));
        }
        connecting.forEach(each -> connections.add(Patience.await(each)));
        List<CompletableFuture<Void>> written = new ArrayList<>();
        for (Connection connection : connections) {
            written.add(write(connection, source, Patience.await(connection.attach(served.descriptor()))));
        }
        written.forEach(Patience::await);
        Patience.until("threads are the pollers' alone", () -> threads() <= threads + 4);
        long each = (heapAfterCollection() - heap) / CONNECTIONS;
        System.out.println("ScaleTest: " + CONNECTIONS + " connections, " + each + " bytes of heap each, both sides");
        assertThat(each).isLessThan(BYTES_A_CONNECTION);
        connections.forEach(connection -> Patience.await(connection.close()));
        Patience.until("the target has none either", () -> target.connections().isEmpty());
    }

    @Test
    void regionsOfOneEngine() {
        MemoryRegion source = initiator.allocate(BYTES, RegionOptions.local());
        Connection connection = Patience.await(initiator.connect(target.address()));
        List<MemoryRegion> regions = new ArrayList<>();
        for (int i = 0; i < REGIONS; i++) {
            regions.add(target.allocate(BYTES, RegionOptions.readWrite()));
        }
        List<CompletableFuture<Void>> written = new ArrayList<>();
        for (int i = 0; i < REGIONS; i += ATTACHED_AT_ONCE) {
            List<RegionDescriptor> some = regions.subList(i, Math.min(REGIONS, i + ATTACHED_AT_ONCE)).stream()
                    .map(MemoryRegion::descriptor)
                    .toList();
            for (RemoteRegion remote : Patience.await(connection.attach(some))) {
                written.add(write(connection, source, remote));
            }
        }
        written.forEach(Patience::await);
        regions.forEach(region -> Patience.await(region.close()));
        System.out.println("ScaleTest: " + REGIONS + " regions attached, written and closed");
        assertThat(target.metrics().regionBytes()).isZero();
    }

    /** Sockets of this port, on either side, that are closed but keep their ports. */
    private static long timeWait(int port) {
        String hexadecimal = ":%04X".formatted(port);
        long count = 0;
        for (String file : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
            try (Stream<String> lines = Files.lines(Path.of(file))) {
                count += lines.map(line -> line.strip().split(" +"))
                        .filter(fields -> fields[3].equals(TIME_WAIT))
                        .filter(fields -> fields[1].endsWith(hexadecimal) || fields[2].endsWith(hexadecimal))
                        .count();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return count;
    }

    @Test
    void connectsAfterEachOther() {
        Patience.await(Patience.await(initiator.connect(target.address())).close());
        int threads = threads();
        long started = System.nanoTime();
        for (int i = 0; i < CONNECTS; i++) {
            Connection connection = Patience.await(initiator.connect(target.address()));
            if (i % 2 == 0) {
                Patience.await(connection.close());
            } else {
                // the other side closes; it may list the one before for a moment yet, and this one a moment later
                Patience.until("the target has closed it", () -> {
                    target.connections().forEach(Connection::close);
                    return connection.ended().toCompletableFuture().isDone();
                });
                Patience.await(connection.ended());
            }
            long due = started + (i + 1) * TimeUnit.SECONDS.toNanos(1) / CONNECTS_A_SECOND;
            Patience.pause(Duration.ofNanos(Math.max(0, due - System.nanoTime())));
        }
        long kept = timeWait(target.address().port());
        System.out.println("ScaleTest: " + CONNECTS + " connects in "
                + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started) + " ms, " + kept
                + " sockets in TIME_WAIT");
        assertThat(kept).isLessThanOrEqualTo(STILL_CLOSING);
        Patience.until("no thread is left", () -> threads() <= threads + 4);
    }
}
