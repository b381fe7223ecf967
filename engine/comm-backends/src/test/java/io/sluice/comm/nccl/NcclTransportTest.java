package io.sluice.comm.nccl;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.comm.StandIns;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** When engines use the transport {@code nccl}, and what becomes of its connections when the library or the peer fails. */
@ExtendWith(SoftNccl.class)
class NcclTransportTest {
    private static final String ABSENT = "/no/such/folder/libnccl.so.2";

    private final SoftNcclTransport transport = new SoftNcclTransport();
    private final List<TransferEngine> engines = new ArrayList<>();

    @AfterEach
    void end() {
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", -1);
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
    }

    private TransferEngine open(EngineOptions.Builder options) {
        TransferEngine engine = TransferEngine.open(options.build());
        engines.add(engine);
        return engine;
    }

    private static List<String> paths(Connection connection) {
        return connection.paths().stream().map(ConnectionPath::transport).toList();
    }

    private static CompletableFuture<Void> write(MemoryRegion local, RemoteRegion remote) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        remote.connection()
                .write(local, 0, remote, 0, local.length(), TransferOptions.defaults(), (transfer, error) -> {
                    if (error == null) {
                        end.complete(null);
                    } else {
                        end.completeExceptionally(error);
                    }
                });
        return end;
    }

    @Test
    void itIsChosenByItsNameAlone() {
        TransferEngine first = open(PatientOptions.builder().environment(Map.of("SLUICE_NCCL_GPU", "0")));
        TransferEngine second = open(PatientOptions.builder().environment(Map.of("SLUICE_NCCL_GPU", "1")));
        assertThat(paths(await(first.connect(second.address())))).doesNotContain("nccl");
        TransferEngine third = open(transport.options());
        TransferEngine fourth = open(transport.targetOptions());
        assertThat(paths(await(third.connect(fourth.address())))).startsWith("nccl");
    }

    /** Memory comes from the transport `cuda`, which is opened with it. */
    @Test
    void namedAloneItCarriesCopies() {
        Map<String, String> alone = Map.of("SLUICE_TRANSPORTS", "nccl", "SLUICE_CUDA_MAPPED", "false");
        TransferEngine first = open(transport.options().environment(alone));
        TransferEngine second = open(transport.targetOptions().environment(alone));
        MemoryRegion local = transport.memory().allocate(first, 4096, RegionOptions.local());
        MemoryRegion served = transport.memory().allocate(second, 4096, RegionOptions.readWrite());
        transport.memory().bytes(local).fill((byte) 5);
        Connection connection = await(first.connect(second.address()));
        assertThat(paths(connection)).containsExactly("nccl");
        await(write(local, await(connection.attach(served.descriptor()))));
        assertThat(transport.memory().bytes(served).contents().toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(5);
    }

    @Test
    void anEngineWithoutTheLibraryGoesOnWithItsOtherTransports() {
        SoftNccl.use(ABSENT);
        TransferEngine without = open(transport.options());
        SoftNccl.use(StandIns.NCCL);
        TransferEngine with = open(transport.targetOptions());
        assertThat(paths(await(without.connect(with.address())))).startsWith("tcp");
        SoftNccl.use(ABSENT);
        assertThatThrownBy(() -> TransferEngine.open(
                        PatientOptions.builder().transports(List.of("nccl")).build()))
                .isInstanceOf(TransportUnavailableException.class)
                .hasMessageContaining(ABSENT);
    }

    @Test
    void aGpuThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> TransferEngine.open(PatientOptions.builder()
                        .environment(Map.of("SLUICE_TRANSPORTS", "nccl", "SLUICE_NCCL_GPU", "99"))
                        .build()))
                .isInstanceOf(TransportUnavailableException.class)
                .hasMessageContaining("99");
    }

    @Test
    void enginesOfOneGpuOrWithTwoVersionsUseAnother() {
        TransferEngine first = open(transport.options());
        TransferEngine same = open(transport.options());
        assertThat(paths(await(first.connect(same.address())))).startsWith("tcp");
        SoftNccl.use(StandIns.NCCL_WITH_WINDOWS);
        TransferEngine newer = open(transport.targetOptions());
        assertThat(paths(await(first.connect(newer.address())))).startsWith("tcp");
    }

    @Test
    void aLibraryThatFailsEndsTheConnectionAndGivesTheMemoryBack() {
        TransferEngine first = open(transport.options());
        TransferEngine second = open(transport.targetOptions());
        MemoryRegion local = transport.memory().allocate(first, 1 << 20, RegionOptions.local());
        MemoryRegion served = transport.memory().allocate(second, 1 << 20, RegionOptions.readWrite());
        RemoteRegion remote = await(await(first.connect(second.address())).attach(served.descriptor()));
        await(write(local, remote));
        long aborts = SoftNccl.count("aborts");
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", 0);
        failure(write(local, remote), ConnectionLostException.class);
        await(local.close());
        await(served.close());
        until("both communicators are aborted", () -> SoftNccl.count("aborts") >= aborts + 2);
        // and the next connection has one of its own
        StandIns.set(StandIns.NCCL, "soft_nccl_fail_after", -1);
        MemoryRegion again = transport.memory().allocate(second, 4096, RegionOptions.readWrite());
        MemoryRegion source = transport.memory().allocate(first, 4096, RegionOptions.local());
        await(write(source, await(await(first.connect(second.address())).attach(again.descriptor()))));
    }

    private static void writeUntilOneFails(MemoryRegion local, RemoteRegion remote, CompletableFuture<Void> end) {
        try {
            write(local, remote).whenComplete((done, error) -> {
                if (error == null) {
                    writeUntilOneFails(local, remote, end);
                } else {
                    end.completeExceptionally(error);
                }
            });
        } catch (RuntimeException e) {
            end.completeExceptionally(e);
        }
    }

    @Test
    void transfersToAKilledPeerEndAndGiveTheMemoryBack() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dsluice.cuda.library=" + System.getProperty("sluice.cuda.library")));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), NcclPeerMain.class.getName()));
        Process peer = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String[] ready = await(CompletableFuture.supplyAsync(() -> {
                        try {
                            String line = peer.inputReader().readLine();
                            while (line != null && !line.startsWith("READY ")) {
                                line = peer.inputReader().readLine();
                            }
                            return String.valueOf(line);
                        } catch (IOException e) {
                            throw new IllegalStateException("the peer is gone", e);
                        }
                    }))
                    .split(" ");
            TransferEngine engine = open(transport.options());
            Connection connection = await(engine.connect(EngineAddress.parse(ready[1])));
            RemoteRegion remote = await(
                    connection.attach(RegionDescriptor.fromBytes(HexFormat.of().parseHex(ready[2]))));
            assertThat(remote.path(MemoryKind.CUDA).transport()).isEqualTo("nccl");
            MemoryRegion local = transport.memory().allocate(engine, NcclPeerMain.BYTES, RegionOptions.local());
            await(write(local, remote));
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                CompletableFuture<Void> end = new CompletableFuture<>();
                writeUntilOneFails(local, remote, end);
                ends.add(end);
            }
            await(write(local, remote));
            peer.destroyForcibly();
            ends.forEach(end -> failure(end, ConnectionLostException.class));
            await(local.close());
        } finally {
            peer.destroyForcibly();
            Patience.exit(peer);
        }
    }
}
