package io.sluice.collectives.cuda;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.ElementType;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A rank's process is killed while all start collectives of GPUs, again and again, while the engines of two others stay. */
final class KilledGpuRanks implements AutoCloseable {
    private static final int BYTES = 64 << 10;
    // by messages, by pushes, and straight from memory to memory, in teams of two and of three
    private static final int[] COUNTS = {10, 2000, 5000};
    private static final long PUSH_BYTES = 16 << 10;
    private static final int SURVIVORS = 2;
    private static final int MOST_ROUNDS_BEFORE = 12;
    // longer than any test: that a rank is lost ends kernels, and no time-out
    private static final Duration ENDLESS = Duration.ofDays(1);

    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<String> gpus = GpuInfo.all().stream().map(GpuInfo::id).toList();
    private final Random random = new Random(12);

    KilledGpuRanks() {
        for (int i = 0; i < SURVIVORS; i++) {
            engines.add(engine());
        }
    }

    static TransferEngine engine() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
    }

    /** A rank that starts graphs, small collectives, middle ones and large ones in turn. */
    static final class Rank implements AutoCloseable {
        private final GpuTeam gpus;
        private final MemoryRegion memory;
        private final TeamRegion shared;
        private final List<GpuCollective> each;
        private final GpuCollectiveGraph graph;
        private final SignalWait wait;
        private final CompletableFuture<Void> failed = new CompletableFuture<>();
        private @Nullable CountDownLatch rounds;
        private int round;

        Rank(TransferEngine engine, Team team, String gpu) {
            gpus = await(
                    GpuTeam.form(
                            team,
                            gpu,
                            GpuTeamOptions.defaults()
                                    .withBlocks(4)
                                    .withExchangeBytes(4 << 10)
                                    .withPushBytes(PUSH_BYTES)
                                    .withTimeout(ENDLESS)),
                    Patience.longBound());
            memory = engine.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
            shared = await(gpus.share(memory));
            each = List.of(reduction(COUNTS[0]), reduction(COUNTS[1]), reduction(COUNTS[2]), gpus.barrier());
            graph = gpus.graph(List.of(each.get(0), each.get(1), each.get(2), each.get(0), each.get(3), each.get(1)));
            wait = gpus.onReached((armed, number, error) -> next(error));
        }

        private GpuCollective reduction(int count) {
            return gpus.allReduce(shared, 0, shared, BYTES / 2, count, ElementType.FLOAT32, ReduceOperation.SUM);
        }

        void countDown(CountDownLatch latch) {
            rounds = latch;
        }

        /** Ends with the error. */
        CompletableFuture<Void> startUntilOneFails() {
            next(null);
            return failed;
        }

        private void next(@Nullable SluiceException error) {
            if (error != null) {
                failed.completeExceptionally(error);
                return;
            }
            try {
                int which = round++ % (each.size() + 1);
                long number = which == 0 ? graph.start() : each.get(which - 1).start();
                if (rounds != null) {
                    rounds.countDown();
                }
                wait.arm(number);
            } catch (SluiceException e) {
                failed.completeExceptionally(e);
            }
        }

        void assertThatNothingStarts() {
            assertThatThrownBy(graph::start).isInstanceOf(RankFailedException.class);
            assertThatThrownBy(each.getFirst()::start).isInstanceOf(RankFailedException.class);
        }

        @Override
        public void close() {
            wait.close();
            await(shared.closeAsync());
            await(gpus.closeAsync());
            await(memory.close());
        }
    }

    private Process start() {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        String library = System.getProperty("sluice.cuda.library");
        if (library != null) {
            command.add("-Dsluice.cuda.library=" + library);
        }
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                GpuRankMain.class.getName(),
                Integer.toString(SURVIVORS),
                Integer.toString(SURVIVORS + 1),
                engines.getFirst().address().toString()));
        try {
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Kills one: the others end with an error that names it, and form a smaller team, on which collectives are right. */
    void kill() {
        Process process = start();
        try {
            List<Team> teams = all(rank -> Team.form(
                    engines.get(rank),
                    TeamOptions.rank(rank)
                            .of(SURVIVORS + 1)
                            .rendezvous(engines.getFirst().address())
                            .formTimeout(Patience.longBound())));
            CountDownLatch rounds = new CountDownLatch(SURVIVORS * (1 + random.nextInt(MOST_ROUNDS_BEFORE)));
            List<Rank> ranks = ranks(teams);
            ranks.forEach(rank -> rank.countDown(rounds));
            List<CompletableFuture<Void>> running =
                    ranks.stream().map(Rank::startUntilOneFails).toList();
            Patience.await(rounds);
            process.destroyForcibly();
            for (CompletableFuture<Void> each : running) {
                assertThat(Patience.failure(each, RankFailedException.class).ranks())
                        .containsExactly(SURVIVORS);
            }
            ranks.forEach(Rank::assertThatNothingStarts);
            ranks.forEach(Rank::close);
            List<Team> smaller = all(rank -> teams.get(rank).shrink());
            List<Rank> again = ranks(smaller);
            CountDownLatch more = new CountDownLatch(SURVIVORS * MOST_ROUNDS_BEFORE);
            again.forEach(rank -> rank.countDown(more));
            List<CompletableFuture<Void>> going =
                    again.stream().map(Rank::startUntilOneFails).toList();
            Patience.await(more);
            assertThat(going).noneMatch(CompletableFuture::isDone);
            await(smaller.getFirst().revoke());
            going.forEach(each -> Patience.failure(each, SluiceException.class));
            again.forEach(Rank::close);
            List<CompletableFuture<Void>> closing = new ArrayList<>();
            smaller.forEach(team -> closing.add(team.closeAsync()));
            teams.forEach(team -> closing.add(team.closeAsync()));
            closing.forEach(Patience::await);
        } finally {
            process.destroyForcibly();
        }
    }

    private interface OnRank<T> {
        CompletableFuture<T> on(int rank);
    }

    private static <T> List<T> all(OnRank<T> start) {
        List<CompletableFuture<T>> started = new ArrayList<>();
        for (int rank = 0; rank < SURVIVORS; rank++) {
            started.add(start.on(rank));
        }
        return started.stream().map(each -> await(each, Patience.longBound())).toList();
    }

    /** Forming waits for the others. */
    private List<Rank> ranks(List<Team> teams) {
        return all(rank -> {
            CompletableFuture<Rank> made = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    made.complete(new Rank(engines.get(rank), teams.get(rank), gpus.get(rank % gpus.size())));
                } catch (RuntimeException | Error e) {
                    made.completeExceptionally(e);
                }
            });
            return made;
        });
    }

    @Override
    public void close() {
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
    }
}
