package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.InvalidDescriptorException;
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
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Memory of a GPU that another process owns is mapped: by a descriptor over the Unix socket, or by the driver's handle. */
class TwoProcessesTest {
    private Process peer;
    private BufferedReader answers;
    private BufferedWriter commands;
    private TransferEngine engine;
    private Connection connection;
    private EngineAddress address;
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
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
        // the two sides number the GPUs differently
        builder.environment().put("CUDA_VISIBLE_DEVICES", "1,0");
        peer = builder.start();
        answers = peer.inputReader();
        commands = peer.outputWriter();
        String[] ready = answer().split(" ");
        for (String each : Arrays.asList(ready).subList(2, ready.length)) {
            descriptors.add(RegionDescriptor.fromBytes(HexFormat.of().parseHex(each)));
        }
        engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
        address = EngineAddress.parse(ready[1]);
        connection = Patience.await(engine.connect(address));
    }

    @AfterEach
    void end() {
        SoftGpu.hang(false);
        peer.destroyForcibly();
        Patience.exit(peer);
        if (engine != null) {
            Patience.await(engine.closeAsync());
        }
        assertThat(SoftGpu.count("mappings")).isZero();
    }

    private String answer() {
        return Patience.await(CompletableFuture.supplyAsync(() -> {
            try {
                return String.valueOf(answers.readLine());
            } catch (IOException e) {
                throw new IllegalStateException("the peer is gone", e);
            }
        }));
    }

    private void command(String text) throws IOException {
        commands.write(text + "\n");
        commands.flush();
    }

    private MemoryRegion region(int ordinal) {
        return engine.allocate(PeerMain.BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(ordinal)));
    }

    @Test
    void every_region_is_where_its_owner_has_it() throws IOException {
        List<RemoteRegion> remotes = Patience.await(connection.attach(descriptors));
        for (int ordinal = 0; ordinal < 2; ordinal++) {
            MemoryRegion local = region(ordinal);
            for (int i = 0; i < remotes.size(); i++) {
                RemoteRegion remote = remotes.get(i);
                int bytes = (int) descriptors.get(i).length();
                assertThat(remote.path().transport()).isEqualTo("cuda");
                byte[] expected = PeerMain.pattern(i, bytes);
                Patience.await(Ends.read(local, 3, remote, 0, bytes - 3));
                byte[] read = SoftGpu.read(ordinal, local.memory().address() + 3, bytes - 3);
                assertThat(Arrays.mismatch(read, Arrays.copyOf(expected, bytes - 3)))
                        .isEqualTo(-1);
            }
            Patience.await(local.close());
        }
        MemoryRegion local = region(1);
        byte[] written = PeerMain.pattern(77, PeerMain.BYTES);
        SoftGpu.write(1, local.memory().address(), written);
        Patience.await(Ends.write(local, 0, remotes.get(0), 0, PeerMain.BYTES));
        command("sum 0");
        assertThat(answer()).isEqualTo("SUM " + Arrays.hashCode(written));
        Patience.await(Ends.write(local, 100, remotes.get(3), 0, PeerMain.REGION_BYTES));
        command("sum 3");
        assertThat(answer())
                .isEqualTo("SUM " + Arrays.hashCode(Arrays.copyOfRange(written, 100, 100 + PeerMain.REGION_BYTES)));
    }

    @Test
    void close_waits_until_it_is_unmapped_here() throws IOException {
        SoftGpu.needSoftware("a stream that does nothing");
        MemoryRegion local = region(0);
        List<RemoteRegion> remotes = Patience.await(connection.attach(descriptors));
        SoftGpu.hang(true);
        CompletableFuture<Void> end = Ends.write(local, 0, remotes.get(0), 0, PeerMain.BYTES);
        command("close 0");
        SoftGpu.hang(false);
        assertThat(answer()).isEqualTo("CLOSED");
        Patience.await(end.handle((done, error) -> true));
        Patience.failure(Ends.write(local, 0, remotes.get(0), 0, 8), SluiceException.class);
        Patience.await(Ends.write(local, 0, remotes.get(1), 0, 8));
    }

    @Test
    void a_forged_descriptor_is_refused() {
        byte[] forged = descriptors.get(0).toBytes();
        for (int at : new int[] {20, 30, 40, 60}) {
            byte[] damaged = forged.clone();
            damaged[at] ^= 1;
            try {
                RegionDescriptor descriptor = RegionDescriptor.fromBytes(damaged);
                Patience.failure(connection.attach(descriptor), SluiceException.class);
            } catch (InvalidDescriptorException damage) {
                assertThat(damage).hasMessageContaining("descriptor");
            }
        }
    }

    @Test
    void a_killed_peer_ends_transfers_and_leaves_nothing() {
        SoftGpu.needSoftware("a stream that does nothing");
        MemoryRegion local = region(0);
        RemoteRegion remote = Patience.await(connection.attach(descriptors.get(0)));
        SoftGpu.hang(true);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            ends.add(Ends.write(local, 0, remote, 0, PeerMain.BYTES));
        }
        peer.destroyForcibly();
        ends.forEach(end -> Patience.failure(end, SluiceException.class));
        // the GPU may still touch it
        CompletableFuture<Void> closed = local.close();
        assertThat(closed).isNotDone();
        SoftGpu.hang(false);
        Patience.await(closed);
        Patience.await(engine.closeAsync());
        assertThat(SoftGpu.count("allocations")).isZero();
    }

    @Test
    void memory_that_cannot_be_opened_is_refused_at_attach() {
        SoftGpu.needSoftware("memory that the driver refuses");
        SoftGpu.refuseImports(true);
        try {
            for (int i = 0; i < 2; i++) {
                Patience.failure(connection.attach(descriptors.get(i)), CudaException.class);
            }
        } finally {
            SoftGpu.refuseImports(false);
        }
        Patience.await(Ends.read(region(0), 0, Patience.await(connection.attach(descriptors.get(2))), 0, 64));
    }

    /** As PyTorch's expandable segments have it: no one descriptor stands for it. */
    @Test
    void memory_of_several_allocations_is_staged() throws IOException {
        command("span");
        RegionDescriptor spanning = RegionDescriptor.fromBytes(HexFormat.of().parseHex(answer()));
        RemoteRegion remote = Patience.await(connection.attach(spanning));
        assertThat(remote.path(MemoryKind.CUDA).transport()).isEqualTo("tcp");
        assertThat(remote.path(MemoryKind.CUDA).reason()).contains("staged").contains("expandable_segments:False");
        int bytes = (int) spanning.length();
        MemoryRegion local = region(1);
        Patience.await(Ends.read(local, 0, remote, 0, bytes));
        byte[] expected = PeerMain.pattern(descriptors.size(), bytes);
        assertThat(Arrays.mismatch(SoftGpu.read(1, local.memory().address(), bytes), expected))
                .isEqualTo(-1);
    }
}
