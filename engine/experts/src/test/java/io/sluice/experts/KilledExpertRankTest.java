package io.sluice.experts;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process that is killed in the middle of dispatches and combines. */
class KilledExpertRankTest {
    /** As 3 ranks and as 2 have them. */
    static final ExpertOptions OPTIONS =
            ExpertOptions.experts(6).hidden(2048).maxTokensPerRank(32).topK(6).timeout(Patience.longBound());

    private static final int ROUNDS_BEFORE = 20;
    private static final long MOST_NANOS_LATER = 1_000_000;
    private static final int SOAK_KILLS = 50;

    private final Random random = FuzzSeed.of("KilledExpertRankTest").random();

    private static Process start(String transport, ExpertRankMain.Mode mode, TransferEngine rankZero)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                ExpertRankMain.class.getName(),
                transport,
                "2",
                "3",
                rankZero.address().toString(),
                mode.name()));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"shm, NORMAL", "tcp, LOW_LATENCY"})
    void theOthersGoOnInTheOtherMode(String transport, ExpertRankMain.Mode mode) throws IOException {
        theOthersGetItsExpertsAndGoOn(transport, mode);
    }

    @ParameterizedTest
    @CsvSource({"shm, LOW_LATENCY", "tcp, NORMAL"})
    void theOthersGetItsExpertsAndGoOn(String transport, ExpertRankMain.Mode mode) throws IOException {
        kill(transport, mode);
    }

    /** At many points of a round. */
    @Tag("soak")
    @ParameterizedTest
    @CsvSource({"shm, LOW_LATENCY", "shm, NORMAL", "tcp, LOW_LATENCY", "tcp, NORMAL"})
    void theOthersGoOnWheneverItIsKilled(String transport, ExpertRankMain.Mode mode) throws IOException {
        for (int i = 0; i < SOAK_KILLS; i++) {
            kill(transport, mode);
        }
    }

    private void kill(String transport, ExpertRankMain.Mode mode) throws IOException {
        List<TransferEngine> engines = new ArrayList<>();
        Process process = null;
        try {
            for (int i = 0; i < 2; i++) {
                engines.add(TransferEngine.open(
                        PatientOptions.builder().transports(List.of(transport)).build()));
            }
            process = start(transport, mode, engines.getFirst());
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
            CountDownLatch rounds = new CountDownLatch(2 * ROUNDS_BEFORE);
            List<CompletableFuture<Void>> running = run(mode, engines, create(teams), rounds, Integer.MAX_VALUE);
            Patience.await(rounds);
            LockSupport.parkNanos(random.nextLong(MOST_NANOS_LATER));
            process.destroyForcibly();
            for (CompletableFuture<Void> each : running) {
                ExpertsLostException lost = failure(each, ExpertsLostException.class);
                assertThat(lost.ranks()).containsExactly(2);
                assertThat(lost.experts()).containsExactly(4, 5);
            }
            List<Team> smaller = new ArrayList<>();
            for (CompletableFuture<Team> each : teams.stream().map(Team::shrink).toList()) {
                smaller.add(await(each));
            }
            run(mode, engines, create(smaller), rounds, ROUNDS_BEFORE).forEach(each -> await(each));
        } finally {
            if (process != null) {
                process.destroyForcibly();
            }
            engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
        }
    }

    private static List<ExpertBuffer> create(List<Team> teams) {
        List<CompletableFuture<ExpertBuffer>> creating =
                teams.stream().map(team -> ExpertBuffer.create(team, OPTIONS)).toList();
        List<ExpertBuffer> buffers = new ArrayList<>();
        for (CompletableFuture<ExpertBuffer> each : creating) {
            buffers.add(await(each, Patience.longBound()));
        }
        return buffers;
    }

    private static List<CompletableFuture<Void>> run(
            ExpertRankMain.Mode mode,
            List<TransferEngine> engines,
            List<ExpertBuffer> buffers,
            CountDownLatch rounds,
            int most) {
        List<CompletableFuture<Void>> running = new ArrayList<>();
        for (int rank = 0; rank < buffers.size(); rank++) {
            int[] done = new int[1];
            running.add(ExpertRankMain.call(mode, engines.get(rank), buffers.get(rank), () -> {
                rounds.countDown();
                return ++done[0] < most;
            }));
        }
        return running;
    }
}
