package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServeProgramTest {

    private static final int BYTES = 1 << 20;

    @TempDir
    private Path folder;

    @Test
    void offersMemoryThatItsReadyFileLeadsTo() throws IOException {
        Path ready = Files.writeString(folder.resolve("ready.json"), "left over by an earlier one");
        try (SluiceProcess serve = SluiceProcess.start(
                folder, "serve", "--listen", "127.0.0.1:0", "--memory", "1MiB", "--ready-file", ready.toString())) {
            JsonNode json = serve.awaitReady(ready);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(ready)))
                    .isEqualTo("rw-------");
            EngineAddress address = EngineAddress.fromBytes(bytes(json, "address"));
            assertThat(json.get("host").asText()).isEqualTo("127.0.0.1").isEqualTo(address.host());
            assertThat(json.get("port").asInt()).isEqualTo(address.port());
            writeAndRead(address, RegionDescriptor.fromBytes(bytes(json, "region")));
            serve.signal("TERM");
            assertThat(serve.awaitEnd()).as(serve::toString).isEqualTo(143);
            assertThat(serve.out()).contains("Offering 1 MiB as 'kv' on 127.0.0.1:" + address.port());
            // a busy machine may well be warned of
            assertThat(serve.err()).doesNotContain("ERROR", "Exception");
            assertThat(ready).doesNotExist();
        }
    }

    private static EngineOptions patient() {
        return EngineOptions.builder()
                .noListener()
                .connectTimeout(SluiceProcess.BOUND)
                .build();
    }

    private static void writeAndRead(EngineAddress address, RegionDescriptor descriptor) {
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(patient());
        try {
            MemoryRegion local = engine.allocate(2 * BYTES, RegionOptions.local());
            for (int i = 0; i < BYTES; i++) {
                local.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
            }
            ReactiveConnection connection = engine.connect(address).block(SluiceProcess.BOUND);
            RemoteRegion remote = connection.attach(descriptor).block(SluiceProcess.BOUND);
            assertThat(remote.length()).isEqualTo(BYTES);
            connection.write(local, 0, remote, 0, BYTES).block(SluiceProcess.BOUND);
            RemoteRegion byName =
                    connection.lookup("kv").flatMap(connection::attach).block(SluiceProcess.BOUND);
            connection.read(local, BYTES, byName, 0, BYTES).block(SluiceProcess.BOUND);
            assertThat(local.segment()
                            .asSlice(0, BYTES)
                            .mismatch(local.segment().asSlice(BYTES, BYTES)))
                    .isEqualTo(-1);
        } finally {
            engine.engine().close();
        }
    }

    @Test
    void drainsBeforeItEnds() throws IOException {
        Path ready = folder.resolve("ready.json");
        try (SluiceProcess serve = SluiceProcess.start(
                folder,
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--memory",
                "1MiB",
                "--drain",
                Patience.BOUND.toSeconds() + "s",
                "--ready-file",
                ready.toString())) {
            JsonNode json = serve.awaitReady(ready);
            ReactiveTransferEngine engine = ReactiveTransferEngine.open(patient());
            try {
                ReactiveConnection connection = engine.connect(EngineAddress.fromBytes(bytes(json, "address")))
                        .block(SluiceProcess.BOUND);
                RemoteRegion remote = connection
                        .attach(RegionDescriptor.fromBytes(bytes(json, "region")))
                        .block(SluiceProcess.BOUND);
                MemoryRegion local = engine.allocate(BYTES, RegionOptions.local());
                CompletableFuture<Void> goOn = new CompletableFuture<>();
                CompletableFuture<TransferResult> held = connection
                        .write(
                                local,
                                0,
                                remote,
                                0,
                                BYTES,
                                TransferOptions.defaults().startAfter(StartEvent.of(goOn)))
                        .toFuture();
                serve.signal("TERM");
                await().atMost(SluiceProcess.BOUND)
                        .until(() -> connection.connection().state() == ConnectionState.DRAINING);
                assertThat(serve.handle().isAlive()).isTrue();
                goOn.complete(null);
                assertThat(held).succeedsWithin(SluiceProcess.BOUND);
                assertThat(serve.awaitEnd()).as(serve::toString).isEqualTo(143);
                connection.ended().block(SluiceProcess.BOUND);
            } finally {
                engine.engine().close();
            }
        }
    }

    @Test
    void beyondLoopbackATokenIsNeeded() {
        ProgramRun serve = ProgramRun.of("serve", "--listen", "0.0.0.0:0", "--memory", "1MiB");
        assertThat(serve.status()).isEqualTo(ExitCodes.FAILED);
        assertThat(serve.err()).contains("SLUICE_TOKEN").doesNotContain("\tat ");
        assertThat(serve.err().lines()).hasSize(1);
    }

    private static byte[] bytes(JsonNode json, String field) {
        return Base64.getDecoder().decode(json.get(field).asText());
    }
}
