package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process that is killed in the middle of collectives. */
class KilledRankTest {
    private static final int COUNT = 300_000;
    private static final int ROUNDS_BEFORE = 3;

    private static Process start(String transport, TransferEngine rankZero) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                RankMain.class.getName(),
                transport,
                "2",
                "3",
                rankZero.address().toString(),
                Integer.toString(COUNT)));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /** Calls the collective again and again, until it fails. */
    private static CompletableFuture<Void> callUntilItFails(Team team, MemoryRegion buffer, CountDownLatch rounds) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        team.allReduce(
                buffer,
                0,
                buffer,
                0,
                COUNT,
                ElementType.INT32,
                ReduceOperation.MAX,
                CollectiveOptions.defaults(),
                (called, error) -> {
                    if (error == null) {
                        ended.complete(null);
                    } else {
                        ended.completeExceptionally(error);
                    }
                });
        return ended.thenComposeAsync(nothing -> {
            rounds.countDown();
            return callUntilItFails(team, buffer, rounds);
        });
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "shm")
    void theOthersGetItsRankAndGoOnOverShm(String transport) throws IOException {
        theOthersGetItsRankAndGoOn(transport);
    }

    @ParameterizedTest
    @ValueSource(strings = "tcp")
    void theOthersGetItsRankAndGoOn(String transport) throws IOException {
        List<TransferEngine> engines = new ArrayList<>();
        Process process = null;
        try {
            for (int i = 0; i < 2; i++) {
                engines.add(TransferEngine.open(
                        PatientOptions.builder().transports(List.of(transport)).build()));
            }
            process = start(transport, engines.getFirst());
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
            CountDownLatch rounds = new CountDownLatch(ROUNDS_BEFORE);
            List<CompletableFuture<Void>> running = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                MemoryRegion buffer = engines.get(rank).allocate(4L * COUNT, RegionOptions.local());
                running.add(callUntilItFails(teams.get(rank), buffer, rounds));
            }
            Patience.await(rounds);
            process.destroyForcibly();
            for (CompletableFuture<Void> each : running) {
                assertThat(failure(each, RankFailedException.class).ranks()).containsExactly(2);
            }
            List<CompletableFuture<Team>> shrinking =
                    teams.stream().map(Team::shrink).toList();
            List<CompletableFuture<Void>> ended = new ArrayList<>();
            for (CompletableFuture<Team> each : shrinking) {
                Team smaller = await(each);
                assertThat(smaller.size()).isEqualTo(2);
                CompletableFuture<Void> end = new CompletableFuture<>();
                smaller.barrier(CollectiveOptions.defaults(), (called, error) -> end.complete(null));
                ended.add(end);
            }
            ended.forEach(Patience::await);
        } finally {
            if (process != null) {
                process.destroyForcibly();
            }
            engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
        }
    }
}
