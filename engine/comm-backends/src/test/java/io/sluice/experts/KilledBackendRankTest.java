package io.sluice.experts;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.comm.StandIns;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A process that is killed in the middle of dispatches and combines over NCCL or NVSHMEM. */
class KilledBackendRankTest {
    private static final int RANKS = 3;
    private static final int LOST = 2;
    private static final int ROUNDS_BEFORE = 5;
    private static final int SOAK_KILLS = 10;
    private static final Duration IN_TIME = Patience.scaled(Duration.ofSeconds(10));

    /** Rank 2 is a process of its own, the others are of this one. */
    private static final class Ranks implements AutoCloseable {
        final List<TransferEngine> engines = new ArrayList<>();
        final List<Team> teams = new ArrayList<>();
        final Process process;

        Ranks(String backend) throws IOException {
            for (int rank = 0; rank < LOST; rank++) {
                engines.add(TransferEngine.open(
                        PatientOptions.builder().transports(List.of("shm")).build()));
            }
            process = start(backend, engines.getFirst());
            List<CompletableFuture<Team>> forming = new ArrayList<>();
            for (int rank = 0; rank < LOST; rank++) {
                forming.add(Team.form(
                        engines.get(rank),
                        TeamOptions.rank(rank)
                                .of(RANKS)
                                .rendezvous(engines.getFirst().address())
                                .formTimeout(Patience.longBound())));
            }
            forming.forEach(each -> teams.add(await(each, Patience.longBound())));
        }

        private static Process start(String backend, TransferEngine rankZero) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    ProcessHandle.current().info().command().orElseThrow(),
                    "-Xmx256m",
                    "-XX:+UseSerialGC",
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dsluice.cuda.library=" + System.getProperty("sluice.cuda.library")));
            command.addAll(ForkedJava.startOptions());
            command.addAll(List.of(
                    "-cp",
                    System.getProperty("java.class.path"),
                    ExpertRankMain.class.getName(),
                    "shm",
                    Integer.toString(LOST),
                    Integer.toString(RANKS),
                    rankZero.address().toString(),
                    ExpertRankMain.Mode.LOW_LATENCY.name()));
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().put("SLUICE_COMM_BACKEND", backend);
            return builder.redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        }

        List<CompletableFuture<ExpertBuffer>> create(List<Team> of, String backend) {
            return of.stream()
                    .map(team -> ExpertBuffer.create(team, KilledExpertRankTest.OPTIONS.backend(backend)))
                    .toList();
        }

        List<CompletableFuture<Void>> run(List<ExpertBuffer> buffers, CountDownLatch rounds, int most) {
            List<CompletableFuture<Void>> running = new ArrayList<>();
            for (int rank = 0; rank < buffers.size(); rank++) {
                int[] done = new int[1];
                running.add(ExpertRankMain.call(
                        ExpertRankMain.Mode.LOW_LATENCY, engines.get(rank), buffers.get(rank), () -> {
                            rounds.countDown();
                            return ++done[0] < most;
                        }));
            }
            return running;
        }

        /** Kills the process in the middle of rounds; returns the team of those that are left. */
        List<Team> kill(String backend) {
            List<ExpertBuffer> buffers = new ArrayList<>();
            create(teams, backend).forEach(each -> buffers.add(await(each, Patience.longBound())));
            CountDownLatch rounds = new CountDownLatch(LOST * ROUNDS_BEFORE);
            List<CompletableFuture<Void>> running = run(buffers, rounds, Integer.MAX_VALUE);
            Patience.await(rounds);
            long killed = System.nanoTime();
            process.destroyForcibly();
            for (CompletableFuture<Void> each : running) {
                assertThat(failure(each, ExpertsLostException.class).ranks()).contains(LOST);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(IN_TIME);
            buffers.forEach(buffer -> await(buffer.closeAsync()));
            List<Team> smaller = new ArrayList<>();
            teams.stream().map(Team::shrink).toList().forEach(each -> smaller.add(await(each)));
            return smaller;
        }

        @Override
        public void close() {
            process.destroyForcibly();
            engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
        }
    }

    private static void killOverNccl() throws IOException {
        long aborts = StandIns.count(StandIns.NCCL, "soft_nccl_count", "aborts");
        try (Ranks ranks = new Ranks(TestedBackends.Nccl.NAME)) {
            List<Team> smaller = ranks.kill(TestedBackends.Nccl.NAME);
            assertThat(StandIns.count(StandIns.NCCL, "soft_nccl_count", "aborts"))
                    .isEqualTo(aborts + LOST);
            List<ExpertBuffer> buffers = new ArrayList<>();
            ranks.create(smaller, TestedBackends.Nccl.NAME).forEach(each -> buffers.add(await(each)));
            ranks.run(buffers, new CountDownLatch(1), ROUNDS_BEFORE).forEach(each -> await(each));
            buffers.stream().map(ExpertBuffer::closeAsync).toList().forEach(each -> await(each));
        }
        assertThat(StandIns.count(StandIns.NCCL, "soft_nccl_count", "communicators"))
                .isZero();
    }

    /** By aborting its communicator; and the next one is a new one. */
    @Test
    void theOthersOverNcclGoOn() throws IOException {
        killOverNccl();
    }

    @Tag("soak")
    @Test
    void theOthersOverNcclGoOnAgainAndAgain() throws IOException {
        for (int kill = 0; kill < SOAK_KILLS; kill++) {
            killOverNccl();
        }
    }

    /** NVSHMEM cannot be aborted, nor started again. */
    @Test
    void theOthersOverNvshmemNeedNewProcesses() throws IOException {
        TestedBackends.Nvshmem.renew(RANKS);
        try (Ranks ranks = new Ranks(TestedBackends.Nvshmem.NAME)) {
            List<Team> smaller = ranks.kill(TestedBackends.Nvshmem.NAME);
            for (CompletableFuture<ExpertBuffer> each : ranks.create(smaller, TestedBackends.Nvshmem.NAME)) {
                assertThat(failure(each, BackendUnavailableException.class))
                        .hasMessageContaining("a new process is needed");
            }
            // what needs no NVSHMEM goes on
            List<ExpertBuffer> buffers = new ArrayList<>();
            ranks.create(smaller, "sluice").forEach(each -> buffers.add(await(each)));
            ranks.run(buffers, new CountDownLatch(1), ROUNDS_BEFORE).forEach(each -> await(each));
        }
    }
}
