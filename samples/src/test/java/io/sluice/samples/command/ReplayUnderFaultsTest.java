package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.engine.transport.TransportProvider;
import io.sluice.engine.transport.faulty.FaultyTransportProvider;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A replay whose requests are refused for a while and whose completions come late and in another order, as a seed wants it. The
 * system property {@code sluice.test.fault-seed} is the first seed, {@code sluice.test.fault-seeds} says how many follow.
 */
class ReplayUnderFaultsTest {
    private static final int SEEDS = 1;
    private static final int SOAK_SEEDS = 50;
    private static final int REQUESTS = "soak".equals(System.getProperty("sluice.test.profile")) ? 10 : 3;

    @TempDir
    private Path folder;

    @Test
    @Tag("soak")
    void noPageIsCorrupted() throws IOException {
        boolean soak = System.getProperty("sluice.test.profile", "").equals("soak");
        int seeds = Integer.getInteger("sluice.test.fault-seeds", soak ? SOAK_SEEDS : SEEDS);
        long first = Long.getLong("sluice.test.fault-seed", 1);
        // elsewhere the transport must not be among those that are known
        Path services = Files.createDirectories(folder.resolve("services/META-INF/services"));
        Files.writeString(services.resolve(TransportProvider.class.getName()), FaultyTransportProvider.class.getName());
        String classPath = System.getProperty("java.class.path") + File.pathSeparator + folder.resolve("services");
        for (long seed = first; seed < first + seeds; seed++) {
            Path json = folder.resolve("out-" + seed + ".json");
            String property = "-Dsluice.test.fault-seed=" + seed;
            try (SluiceProcess replay = SluiceProcess.startOn(
                    classPath,
                    folder,
                    Map.of("JAVA_TOOL_OPTIONS", property),
                    "replay",
                    "--transport",
                    "faulty",
                    "--requests",
                    Integer.toString(REQUESTS),
                    "--pool",
                    "256MiB",
                    "--json",
                    json.toString())) {
                assertThat(replay.awaitEnd()).as("%s%n%s", property, replay).isZero();
                JsonNode summary = SluiceProcess.json(json);
                assertThat(summary.get("requests").asLong()).as(property).isEqualTo(REQUESTS);
                assertThat(summary.get("corrupted_pages").asLong()).as(property).isZero();
            }
        }
        System.out.println("ReplayUnderFaultsTest: seeds " + first + " to " + (first + seeds - 1) + ", " + REQUESTS
                + " requests each, 0 corrupted pages");
    }
}
