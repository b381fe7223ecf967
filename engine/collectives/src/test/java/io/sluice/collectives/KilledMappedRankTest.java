package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process is killed while the others read its memory. */
class KilledMappedRankTest {
    private static Process start(TransferEngine rankZero, int count) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                MappedRankMain.class.getName(),
                "2",
                "3",
                rankZero.address().toString(),
                Integer.toString(count)));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(ints = 5_000)
    void theOthersGetItsRankInSmallOnesAndGoOn(int count) throws IOException {
        theOthersGetItsRankAndGoOn(count);
    }

    @ParameterizedTest
    @ValueSource(ints = 1_000_000)
    void theOthersGetItsRankAndGoOn(int count) throws IOException {
        List<TransferEngine> engines = List.of(MappedRankMain.open(), MappedRankMain.open());
        Process process = start(engines.getFirst(), count);
        try {
            List<CompletableFuture<Team>> forming = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                forming.add(Team.form(
                        engines.get(rank),
                        TeamOptions.rank(rank)
                                .of(3)
                                .rendezvous(engines.getFirst().address())
                                .formTimeout(Patience.longBound())));
            }
            List<Team> teams = new ArrayList<>();
            for (CompletableFuture<Team> each : forming) {
                teams.add(await(each, Patience.longBound()));
            }
            CountDownLatch rounds = new CountDownLatch(6);
            List<MemoryRegion> buffers = new ArrayList<>();
            List<CompletableFuture<Void>> running = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                MemoryRegion buffer = engines.get(rank).allocate(8L * count, RegionOptions.readOnly());
                buffers.add(buffer);
                running.add(MappedRankMain.callUntil(teams.get(rank), buffer, count, error -> {
                    rounds.countDown();
                    return error != null;
                }));
            }
            Patience.await(rounds);
            process.destroyForcibly();
            for (CompletableFuture<Void> each : running) {
                assertThat(failure(each, RankFailedException.class).ranks()).containsExactly(2);
            }
            List<CompletableFuture<Team>> shrinking =
                    teams.stream().map(Team::shrink).toList();
            List<CompletableFuture<Void>> again = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                Team smaller = await(shrinking.get(rank));
                assertThat(smaller.size()).isEqualTo(2);
                again.add(MappedRankMain.callUntil(smaller, buffers.get(rank), count, error -> true));
            }
            again.forEach(Patience::await);
        } finally {
            process.destroyForcibly();
            engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
        }
    }
}
