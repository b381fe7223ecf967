package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Memory of a GPU that another process owns and this one does not map: it goes through pinned memory and over tcp. */
class StagedPathTest {
    // the smallest, of pieces of 8 KiB: what is moved goes around it many times
    private static final long RING = 64 << 10;

    private Process peer;
    private TransferEngine engine;
    private Connection connection;
    private final List<RegionDescriptor> descriptors = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        SoftGpu.load();
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dbasedir=" + System.getProperty("basedir", System.getProperty("user.dir"))));
        command.addAll(SoftGpu.javaOptions());
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), PeerMain.class.getName()));
        peer = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
        String[] ready = Patience.await(CompletableFuture.supplyAsync(() -> {
                    try {
                        return String.valueOf(peer.inputReader().readLine());
                    } catch (IOException e) {
                        throw new IllegalStateException("the peer is gone", e);
                    }
                }))
                .split(" ");
        for (String each : Arrays.asList(ready).subList(2, ready.length)) {
            descriptors.add(RegionDescriptor.fromBytes(HexFormat.of().parseHex(each)));
        }
        engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .transport(
                        CudaOptions.builder().mapped(false).stagingBytes(RING).build())
                .build());
        connection = Patience.await(engine.connect(EngineAddress.parse(ready[1])));
    }

    @AfterEach
    void end() {
        SoftGpu.hang(false);
        peer.destroyForcibly();
        Patience.exit(peer);
        if (engine != null) {
            Patience.await(engine.closeAsync());
        }
    }

    private MemoryRegion onGpu(int ordinal) {
        return engine.allocate(PeerMain.BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(ordinal)));
    }

    private static byte[] contents(MemoryRegion region, int ordinal, int bytes) {
        return region.memory().isHost()
                ? region.segment().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE)
                : SoftGpu.read(ordinal, region.memory().address(), bytes);
    }

    private static void fill(MemoryRegion region, int ordinal, byte[] bytes) {
        if (region.memory().isHost()) {
            region.segment().copyFrom(MemorySegment.ofArray(bytes));
        } else {
            SoftGpu.write(ordinal, region.memory().address(), bytes);
        }
    }

    @Test
    void the_path_says_that_it_is_staged() {
        RemoteRegion remote = Patience.await(connection.attach(descriptors.get(0)));
        for (MemoryKind local : MemoryKind.values()) {
            ConnectionPath path = remote.path(local);
            assertThat(path.transport()).isEqualTo("tcp");
            assertThat(path.reason()).startsWith("staged through pinned memory of the host");
        }
        assertThat(remote.wordPath().reason()).startsWith("staged");
        assertThat(connection.paths().getFirst().reason()).contains("cuda is out of reach: SLUICE_CUDA_MAPPED");
    }

    @Test
    void bytes_go_both_ways_between_both_kinds_of_memory() {
        RemoteRegion remote = Patience.await(connection.attach(descriptors.get(0)));
        Random random = new Random(9);
        List<MemoryRegion> locals = List.of(onGpu(0), onGpu(1), engine.allocate(PeerMain.BYTES, RegionOptions.local()));
        for (int i = 0; i < locals.size(); i++) {
            MemoryRegion local = locals.get(i);
            for (int bytes : new int[] {1, 4097, PeerMain.BYTES}) {
                byte[] written = new byte[PeerMain.BYTES];
                random.nextBytes(written);
                fill(local, i, written);
                Patience.await(Ends.write(local, 0, remote, PeerMain.BYTES - bytes, bytes));
                fill(local, i, new byte[PeerMain.BYTES]);
                Patience.await(Ends.read(local, 0, remote, PeerMain.BYTES - bytes, bytes));
                assertThat(Arrays.mismatch(contents(local, i, bytes), Arrays.copyOf(written, bytes)))
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void pages_larger_and_smaller_than_a_piece_go_both_ways() {
        RemoteRegion remote = Patience.await(connection.attach(descriptors.get(0)));
        MemoryRegion local = onGpu(1);
        for (int pageBytes : new int[] {24, 4096, 12_000}) {
            int count = 40;
            int[] there = new int[count];
            int[] here = new int[count];
            for (int i = 0; i < count; i++) {
                there[i] = 2 * i;
                here[i] = 2 * (count - i);
            }
            byte[] written = PeerMain.pattern(pageBytes, PeerMain.BYTES);
            fill(local, 1, written);
            Patience.await(Ends.pages(true, local, here, remote, there, pageBytes));
            fill(local, 1, new byte[PeerMain.BYTES]);
            Patience.await(Ends.pages(false, local, here, remote, there, pageBytes));
            byte[] read = contents(local, 1, PeerMain.BYTES);
            for (int page : here) {
                assertThat(Arrays.mismatch(
                                read,
                                page * pageBytes,
                                (page + 1) * pageBytes,
                                written,
                                page * pageBytes,
                                (page + 1) * pageBytes))
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void a_killed_peer_ends_transfers_and_leases_last_until_the_gpu_is_done() {
        SoftGpu.needSoftware("a stream that does nothing");
        MemoryRegion local = onGpu(0);
        RemoteRegion remote = Patience.await(connection.attach(descriptors.get(0)));
        Patience.await(Ends.write(local, 0, remote, 0, PeerMain.BYTES));
        SoftGpu.hang(true);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ends.add(Ends.write(local, 0, remote, 0, PeerMain.BYTES));
        }
        peer.destroyForcibly();
        ends.forEach(end -> Patience.failure(end, SluiceException.class));
        CompletableFuture<Void> closed = local.close();
        SoftGpu.hang(false);
        Patience.await(closed);
    }
}
