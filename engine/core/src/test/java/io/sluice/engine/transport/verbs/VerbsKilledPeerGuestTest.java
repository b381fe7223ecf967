package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A process is killed while transfers of all kinds go to it and come from it. Only where devices reach other processes. */
@Tag("softroce")
@Tag("softroce-long")
class VerbsKilledPeerGuestTest {
    private static final int ROUNDS = 2;

    private final VerbsUnderTest transport =
            VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1)).with("SLUICE_LANES", "2");

    private Process start() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), LoadedPeer.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(transport.targetEnvironment());
        return builder.start();
    }

    private static String answer(BufferedReader from) throws IOException {
        String line = from.readLine();
        while (line != null && (line.isEmpty() || line.charAt(0) != LoadedPeer.ANSWER)) {
            line = from.readLine();
        }
        assertThat(line).as("an answer of the peer").isNotNull();
        return line.substring(1);
    }

    @Test
    void everythingEndsWhenThePeerIsKilledUnderLoad() throws Exception {
        EngineOptions options = transport.options().build();
        try (TransferEngine engine = TransferEngine.open(options)) {
            MemoryRegion served = engine.allocate(EndlessTransfers.REGION_BYTES, RegionOptions.readWrite());
            MemoryRegion local = engine.allocate(EndlessTransfers.REGION_BYTES, RegionOptions.local());
            int descriptors = -1;
            for (int round = 0; round < ROUNDS; round++) {
                killOne(engine, served, local);
                if (descriptors < 0) {
                    // what a rail keeps for the next connection was not there before the first
                    Patience.until(
                            "the connection is gone", () -> engine.connections().isEmpty());
                    descriptors = OpenDescriptors.count();
                }
            }
            OpenDescriptors.assertSettleAt(descriptors);
            Patience.until(
                    "all credits are back",
                    () -> engine.metrics().window().operations() == 0
                            && engine.metrics().window().bytes() == 0);
        }
    }

    private void killOne(TransferEngine engine, MemoryRegion served, MemoryRegion local) throws Exception {
        Process process = start();
        try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8);
                Writer out = process.outputWriter(StandardCharsets.UTF_8)) {
            List<String> words = List.of(answer(in).split(" "));
            Connection connection = Patience.await(engine.connect(EngineAddress.parse(words.getFirst())));
            LoadedPeer.take(connection);
            out.write(HexFormat.of().formatHex(served.descriptor().toBytes()) + "\n");
            out.flush();
            EndlessTransfers load = new EndlessTransfers(
                    connection,
                    local,
                    Patience.await(connection.attach(
                            RegionDescriptor.fromBytes(HexFormat.of().parseHex(words.getLast())))));
            assertThat(answer(in)).isEqualTo("loaded");
            load.awaitProgress(100);
            process.destroyForcibly();
            assertThat(load.awaitEnd())
                    .isNotEmpty()
                    .allSatisfy(error -> assertThat(error)
                            .isInstanceOfAny(ConnectionLostException.class, OutcomeUnknownException.class));
            Patience.failure(connection.ended(), ConnectionLostException.class);
            Patience.await(connection.quiesced());
            Patience.exit(process);
        } finally {
            process.destroyForcibly();
        }
    }
}
