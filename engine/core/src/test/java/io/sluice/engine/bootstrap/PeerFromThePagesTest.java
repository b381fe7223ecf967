package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages about the protocol suffice for a peer in another language: here is one, in Python. */
class PeerFromThePagesTest {
    private static final Path PEER = Path.of("src/test/resources/peer/peer.py");

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"", "0123456789abcdef0123456789abcdef"})
    void aPeerInAnotherLanguageUsesARegion(String token) throws IOException {
        EngineOptions.Builder options = PatientOptions.builder().transports(List.of("tcp"));
        List<String> command = new ArrayList<>(List.of("python3", PEER.toString()));
        if (!token.isEmpty()) {
            options.token(token.getBytes(StandardCharsets.UTF_8));
        }
        BlockingQueue<String> notified = new LinkedBlockingQueue<>();
        try (TransferEngine engine = TransferEngine.open(options.build())) {
            MemoryRegion region =
                    engine.allocate(4096, RegionOptions.readWrite().named("pages"));
            engine.onConnection(
                    connection -> connection.subscribe(listener(notified)).request(Long.MAX_VALUE));
            command.add(engine.address().host());
            command.add(Integer.toString(engine.address().port()));
            if (!token.isEmpty()) {
                command.add(token);
            }
            Path output = folder.resolve("output");
            int status = Patience.exit(started(command, output));
            assertThat(status).as(Files.readString(output)).isZero();
            assertThat(Patience.take("the notification", notified)).isEqualTo("written");
            assertThat(region.segment().getString(8)).isEqualTo("from another language");
            assertThat(region.signal(0).value()).isEqualTo(10);
            assertThat(region.segment().getString(128)).isEqualTo("aaaa");
        }
    }

    private static Process started(List<String> command, Path output) {
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
        } catch (IOException e) {
            return abort("there is no python3: install Debian's package python3-minimal, or use ./sluice test");
        }
    }

    private static NotificationListener listener(BlockingQueue<String> notified) {
        return new NotificationListener() {
            @Override
            public void notification(byte[] payload) {
                notified.add(new String(payload, StandardCharsets.UTF_8));
            }

            @Override
            public void ended(@Nullable SluiceException error) {}
        };
    }
}
