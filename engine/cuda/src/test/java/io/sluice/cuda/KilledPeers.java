package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * One side of a connection is killed under load, the one that copies and the one that owns the memory, again and again, while the
 * other's engine stays. Arguments: how many rounds, and how many transfers before the kills; or what the other process is to be.
 * With {@code -Dsluice.cuda.real=true} on the machine's GPUs. It prints a line a round, with times; what does not hold is an
 * {@link AssertionError}.
 */
final class KilledPeers implements AutoCloseable {
    private static final int BYTES = 8 << 20;
    private static final int PAGES = 256;
    private static final int PAGE_BYTES = 4096;
    private static final int IN_FLIGHT = 64;
    // other allocations of the driver, such as those of a context that goes
    private static final long SLACK_BYTES = 4 << 20;
    private static final Duration LONG_ENOUGH_TO_SEE = Duration.ofMillis(200);

    private final TransferEngine engine = open();
    private final Random random = new Random(50);
    // of the engine's own, once it uses both GPUs
    private long mappings;
    private long longestEndNanos;
    private long longestBackNanos;

    private static TransferEngine open() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
    }

    private static MemoryRegion allocate(TransferEngine engine, int ordinal, RegionOptions options) {
        return engine.allocate(BYTES, options.on(MemoryKind.CUDA, SoftGpu.id(ordinal)));
    }

    private static String text(RegionDescriptor descriptor) {
        return HexFormat.of().formatHex(descriptor.toBytes());
    }

    private static RegionDescriptor descriptor(String text) {
        return RegionDescriptor.fromBytes(HexFormat.of().parseHex(text));
    }

    // ---- load ----

    /** Transfers of several kinds at a time, each followed by the next, until they fail. */
    private static final class Load {
        private final Connection connection;
        private final MemoryRegion local;
        private final RemoteRegion remote;
        private final int[] pages = IntStream.range(0, PAGES).map(i -> 2 * i).toArray();
        private final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
        private final List<CompletableFuture<Void>> ends = new ArrayList<>();
        private final CompletableFuture<Void> begun = new CompletableFuture<>();

        Load(Connection connection, MemoryRegion local, RemoteRegion remote) {
            this.connection = connection;
            this.local = local;
            this.remote = remote;
            for (int kind = 0; kind < 4; kind++) {
                CompletableFuture<Void> end = new CompletableFuture<>();
                ends.add(end);
                next(kind, end);
            }
        }

        private CompletableFuture<Void> transfer(int kind) {
            return switch (kind) {
                case 0 -> Ends.write(local, 0, remote, 0, 1 << 20);
                case 1 -> Ends.read(local, 1 << 20, remote, 1 << 20, 1 << 20);
                case 2 -> Ends.pages(true, local, pages, remote, pages, PAGE_BYTES);
                default -> Ends.write(local, 8, remote, 8, 8);
            };
        }

        private void next(int kind, CompletableFuture<Void> end) {
            try {
                transfer(kind).whenComplete((done, error) -> {
                    if (error == null) {
                        begun.complete(null);
                        connection.loop().execute(() -> next(kind, end));
                    } else {
                        errors.add(error);
                        end.complete(null);
                    }
                });
            } catch (RuntimeException e) {
                errors.add(e);
                end.complete(null);
            }
        }

        void awaitBegun() {
            Patience.await(begun);
        }

        void awaitEnds() {
            ends.forEach(Patience::await);
            assertThat(errors)
                    .hasSameSizeAs(ends)
                    .allSatisfy(error -> assertThat(error).isInstanceOf(SluiceException.class));
        }
    }

    // ---- the other process ----

    /** It owns memory; and a descriptor of memory that was freed, and made again where it was. */
    @SuppressWarnings("SystemOut")
    private static void serve() throws IOException {
        TransferEngine engine = open();
        MemoryRegion region = allocate(engine, 1, RegionOptions.readWrite());
        RegionOptions options = RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(1));
        long freed = SoftGpu.malloc(1, BYTES);
        MemoryRegion stale =
                engine.register(RegionMemory.device(MemoryKind.CUDA, SoftGpu.id(1), freed, BYTES, () -> true), options);
        SoftGpu.free(1, freed);
        long again = SoftGpu.malloc(1, BYTES);
        System.out.println("READY " + engine.address() + ' ' + text(region.descriptor()) + ' '
                + text(stale.descriptor()) + ' ' + (again == freed));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (in.readLine() != null) {
            boolean isClean = MemorySegment.ofArray(SoftGpu.read(1, again, BYTES))
                            .mismatch(MemorySegment.ofArray(new byte[BYTES]))
                    < 0;
            System.out.println("CLEAN " + isClean);
        }
    }

    /** It writes to memory of the first. */
    @SuppressWarnings("SystemOut")
    private static void load(String address, String descriptor) throws IOException {
        TransferEngine engine = open();
        MemoryRegion local = allocate(engine, 0, RegionOptions.local());
        Connection connection = Patience.await(engine.connect(EngineAddress.parse(address)));
        RemoteRegion remote = Patience.await(connection.attach(descriptor(descriptor)));
        new Load(connection, local, remote).awaitBegun();
        System.out.println("LOADING");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        // until it is killed
        while (in.readLine() != null) {
            leaveSockets();
            System.out.println("LEFT");
        }
    }

    /** As the kernel does while it ends a process, of which more goes on. */
    private static void leaveSockets() {
        String[] descriptors = new File("/proc/self/fd").list();
        for (String each : descriptors == null ? new String[0] : descriptors) {
            if (LocalSockets.peer(Integer.parseInt(each)) >= 0) {
                Sockets.shutdown(Integer.parseInt(each));
            }
        }
    }

    // ---- rounds ----

    private static long free(int ordinal) {
        long device = CudaException.check(CudaDevice.open(ordinal), "no device");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(Long.BYTES, Long.BYTES);
            CudaException.check(CudaDevice.freeMemory(device, bytes.address()), "no answer");
            return bytes.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            CudaDevice.close(device);
        }
    }

    /** So many transfers open no handle after the region was attached, and memory made again is not reached. */
    @SuppressWarnings("SystemOut")
    void openNothing(int transfers) throws IOException {
        Patience.await(allocate(engine, 1, RegionOptions.local()).close());
        try (GpuProcess peer = new GpuProcess(KilledPeers.class, "serve")) {
            String[] ready = peer.answer().split(" ");
            Connection connection = Patience.await(engine.connect(EngineAddress.parse(ready[1])));
            Patience.failure(connection.attach(descriptor(ready[3])), StaleDescriptorException.class);
            assertThat(peer.answerTo("is it clean?")).isEqualTo("CLEAN true");
            MemoryRegion local = allocate(engine, 0, RegionOptions.local());
            RemoteRegion remote = Patience.await(connection.attach(descriptor(ready[2])));
            Patience.await(Ends.write(local, 0, remote, 0, 8));
            long imports = SoftGpu.count("imports");
            long mapped = SoftGpu.count("mappings");
            int[] pages = {3, 1, 7, 2};
            for (int done = 0; done < transfers; done += IN_FLIGHT) {
                List<CompletableFuture<Void>> ends = new ArrayList<>();
                for (int i = 0; i < IN_FLIGHT; i++) {
                    ends.add(
                            i % 3 == 0
                                    ? Ends.pages(true, local, pages, remote, pages, 64)
                                    : i % 3 == 1
                                            ? Ends.write(local, 8L * i, remote, 8L * i, 8 + i)
                                            : Ends.read(local, 1 << 20, remote, 0, 4096));
                }
                ends.forEach(Patience::await);
            }
            assertThat(SoftGpu.count("imports")).isEqualTo(imports);
            assertThat(SoftGpu.count("mappings")).isEqualTo(mapped);
            System.out.printf(
                    Locale.ROOT,
                    "%d transfers opened no handle; %d were opened before, as far as they are counted%n",
                    transfers,
                    imports);
            Patience.await(connection.close());
            Patience.await(local.close());
        }
        mappings = SoftGpu.count("mappings");
    }

    /** The owner of the memory is killed while this process copies. */
    void killOwner(int round) throws IOException, InterruptedException {
        long before = free(1);
        try (GpuProcess peer = new GpuProcess(KilledPeers.class, "serve")) {
            String[] ready = peer.answer().split(" ");
            Connection connection = Patience.await(engine.connect(EngineAddress.parse(ready[1])));
            MemoryRegion local = allocate(engine, 0, RegionOptions.local());
            RemoteRegion remote = Patience.await(connection.attach(descriptor(ready[2])));
            Load load = new Load(connection, local, remote);
            load.awaitBegun();
            Thread.sleep(random.nextInt(50));
            long killed = System.nanoTime();
            peer.kill();
            load.awaitEnds();
            long ended = System.nanoTime();
            Patience.await(local.close());
            assertThatAllIsBack(round, "owner", before, killed, ended);
        }
    }

    /** The process that copies is killed while this one owns the memory. */
    void killInitiator(int round) throws IOException, InterruptedException {
        long before = free(1);
        MemoryRegion region = allocate(engine, 1, RegionOptions.readWrite());
        try (GpuProcess peer =
                new GpuProcess(KilledPeers.class, "load", engine.address().toString(), text(region.descriptor()))) {
            assertThat(peer.answer()).isEqualTo("LOADING");
            Thread.sleep(random.nextInt(50));
            long killed = System.nanoTime();
            peer.kill();
            // the peer's GPU may write until its process is gone
            Patience.await(region.close());
            assertThatAllIsBack(round, "initiator", before, killed, System.nanoTime());
        }
    }

    /** The process that copies has left its sockets, and its GPU may copy until it is killed. */
    void leaveAndKill() throws IOException {
        MemoryRegion region = allocate(engine, 1, RegionOptions.readWrite());
        try (GpuProcess peer =
                new GpuProcess(KilledPeers.class, "load", engine.address().toString(), text(region.descriptor()))) {
            assertThat(peer.answer()).isEqualTo("LOADING");
            assertThat(peer.answerTo("leave")).isEqualTo("LEFT");
            Patience.until("the connection is lost", () -> engine.connections().isEmpty());
            CompletableFuture<Void> closed = region.close();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(closed).isNotDone();
            peer.kill();
            Patience.await(closed);
        }
    }

    @SuppressWarnings("SystemOut")
    private void assertThatAllIsBack(int round, String who, long before, long killed, long ended) {
        Patience.until("nothing of the peer is mapped", () -> SoftGpu.count("mappings") <= mappings);
        Patience.until("the memory is back", () -> free(1) >= before - SLACK_BYTES);
        long back = System.nanoTime();
        longestEndNanos = Math.max(longestEndNanos, ended - killed);
        longestBackNanos = Math.max(longestBackNanos, back - ended);
        System.out.printf(
                Locale.ROOT,
                "round %d: %s killed, ended after %.1f ms, memory back %.1f ms later%n",
                round,
                who,
                (ended - killed) / 1e6,
                (back - ended) / 1e6);
    }

    @Override
    public void close() {
        Patience.await(engine.closeAsync());
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws Exception {
        SoftGpu.load();
        switch (arguments[0]) {
            case "serve" -> serve();
            case "load" -> load(arguments[1], arguments[2]);
            default -> {
                int rounds = Integer.parseInt(arguments[0]);
                try (KilledPeers peers = new KilledPeers()) {
                    peers.openNothing(Integer.parseInt(arguments[1]));
                    for (int round = 1; round <= rounds; round++) {
                        if (round % 2 == 0) {
                            peers.killOwner(round);
                        } else {
                            peers.killInitiator(round);
                        }
                    }
                    System.out.printf(
                            Locale.ROOT,
                            "%d rounds: ended within %.1f ms, memory back within %.1f ms%n",
                            rounds,
                            peers.longestEndNanos / 1e6,
                            peers.longestBackNanos / 1e6);
                    if (peers.longestBackNanos > TimeUnit.SECONDS.toNanos(1)) {
                        throw new AssertionError("memory is to be back within a second");
                    }
                }
            }
        }
    }
}
