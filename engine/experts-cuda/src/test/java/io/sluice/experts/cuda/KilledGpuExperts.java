package io.sluice.experts.cuda;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.ExpertsLostException;
import io.sluice.jni.CudaDevice;
import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * One of two ranks is killed while both dispatch and combine, again and again: the other one's engine stays, and forms the next pair. What
 * does not hold is an {@link AssertionError}. The only argument is how many are killed, the property {@code kill.seed} when; each is a line
 * of a table. With {@code -Dsluice.cuda.real=true} on the machine's GPUs.
 */
final class KilledGpuExperts implements AutoCloseable {
    static final int RANKS = 2;

    private static final boolean IS_REAL = Boolean.getBoolean("sluice.cuda.real");
    private static final int MOST_ROUNDS_BEFORE = 40;
    private static final long MOST_NANOS_LATER = 500_000;
    // other allocations of the driver, such as those of a context that goes: less than a buffer has
    private static final long SLACK_BYTES = IS_REAL ? 32 << 20 : 0;
    /** Until both GPUs have been this process's, so that engine and driver have what they keep. */
    private static final int FIRST_PAIRS = RANKS;

    private final TransferEngine engine;
    private final List<String> gpus = GpuInfo.all().stream().map(GpuInfo::id).toList();
    private final Random random;
    private int pairs;
    private long[] freeBefore;

    KilledGpuExperts(Random random) {
        this(random, true);
    }

    /**
     * Has none killed yet.
     *
     * @param isMapped whether GPUs reach each other's memory; else the host carries
     */
    KilledGpuExperts(Random random, boolean isMapped) {
        this.engine = engine(isMapped);
        this.random = random;
        this.freeBefore = free();
    }

    static TransferEngine engine() {
        return engine(true);
    }

    private static TransferEngine engine(boolean isMapped) {
        return TransferEngine.open(new Islands(isMapped ? "a" : ".").engine(0));
    }

    /**
     * What came of a kill.
     *
     * @param rounds how often the survivor had started some
     * @param endNanos from the kill until the survivor had its error
     * @param closeNanos from there until its buffer, regions and team were closed
     * @param backNanos from there until the memory of both GPUs was free
     * @param lessBytes how much less is free than before, of the GPU that has least
     */
    record Outcome(
            int victim,
            ExpertRounds.Mode mode,
            int rounds,
            long endNanos,
            long closeNanos,
            long backNanos,
            long lessBytes) {}

    private Process start(int rank, ExpertRounds.Mode mode) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        List<String> passed = new ArrayList<>(ExpertRounds.PROPERTIES);
        passed.addAll(List.of("sluice.cuda.library", "sluice.cuda.real"));
        for (String property : passed) {
            String value = System.getProperty(property);
            if (value != null) {
                command.add("-D" + property + "=" + value);
            }
        }
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                ExpertRankMain.class.getName(),
                Integer.toString(rank),
                mode.name()));
        if (rank != 0) {
            command.add(engine.address().toString());
        }
        try {
            return new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** What the process says of its engine. */
    private static EngineAddress address(Process process) {
        BufferedReader lines = process.inputReader();
        String line = await(
                CompletableFuture.supplyAsync(() -> {
                    try {
                        String next;
                        do {
                            next = lines.readLine();
                        } while (next != null && !next.startsWith(ExpertRankMain.ADDRESS));
                        return String.valueOf(next);
                    } catch (IOException e) {
                        throw new IllegalStateException("the other process is gone", e);
                    }
                }),
                Patience.longBound());
        assertThat(line).as("what the other process says").startsWith(ExpertRankMain.ADDRESS);
        return EngineAddress.parse(line.substring(ExpertRankMain.ADDRESS.length()));
    }

    /** Kills a rank: the other one ends with an error that names it, and gives all back. */
    Outcome kill(int victim, ExpertRounds.Mode mode) {
        int survivor = 1 - victim;
        int before = 1 + random.nextInt(MOST_ROUNDS_BEFORE);
        Process process = start(victim, mode);
        try {
            EngineAddress others = address(process);
            Team team = await(
                    Team.form(
                            engine,
                            TeamOptions.rank(survivor)
                                    .of(RANKS)
                                    .rendezvous(victim == 0 ? others : engine.address())
                                    .formTimeout(Patience.longBound())),
                    Patience.longBound());
            ExpertRounds rounds = new ExpertRounds(engine, team, gpus.get(survivor % gpus.size()), mode);
            CountDownLatch latch = new CountDownLatch(before);
            rounds.countDown(latch);
            CompletableFuture<Void> running = rounds.startUntilOneFails();
            Patience.await(latch);
            LockSupport.parkNanos(random.nextLong(MOST_NANOS_LATER));
            long killed = System.nanoTime();
            process.destroyForcibly();
            ExpertsLostException lost = Patience.failure(running, ExpertsLostException.class);
            long ended = System.nanoTime();
            assertThat(lost.ranks()).containsExactly(victim);
            int each = ExpertRounds.EXPERTS / RANKS;
            assertThat(lost.experts())
                    .containsExactlyInAnyOrderElementsOf(IntStream.range(victim * each, (victim + 1) * each)
                            .boxed()
                            .toList());
            rounds.assertThatNothingStarts();
            rounds.close();
            await(team.closeAsync());
            long closed = System.nanoTime();
            Patience.exit(process);
            long less = awaitMemory();
            return new Outcome(victim, mode, before, ended - killed, closed - ended, System.nanoTime() - closed, less);
        } finally {
            process.destroyForcibly();
        }
    }

    private long awaitMemory() {
        if (++pairs <= FIRST_PAIRS) {
            freeBefore = free();
        }
        Patience.until("the memory of both GPUs is free", () -> less() <= SLACK_BYTES);
        return less();
    }

    private long less() {
        long[] now = free();
        return IntStream.range(0, now.length)
                .mapToLong(i -> freeBefore[i] - now[i])
                .max()
                .orElseThrow();
    }

    private long[] free() {
        return IntStream.range(0, gpus.size()).mapToLong(KilledGpuExperts::free).toArray();
    }

    private static long free(int ordinal) {
        long device = CudaDevice.open(ordinal);
        assertThat(device).as("GPU %d", ordinal).isPositive();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(Long.BYTES, Long.BYTES);
            assertThat(CudaDevice.freeMemory(device, bytes.address())).isNotNegative();
            return bytes.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            CudaDevice.close(device);
        }
    }

    @Override
    public void close() {
        await(engine.closeAsync());
    }

    private static double millis(long nanos) {
        return nanos / 1e6;
    }

    @SuppressWarnings("SystemOut")
    private static void print(String number, Outcome outcome) {
        System.out.printf(
                Locale.ROOT,
                "%5s  rank %d  %-11s  %3d rounds  ended after %7.1f ms  closed %7.1f ms later  memory free %7.1f ms later, %d MiB less%n",
                number,
                outcome.victim(),
                outcome.mode(),
                outcome.rounds(),
                millis(outcome.endNanos()),
                millis(outcome.closeNanos()),
                millis(outcome.backNanos()),
                outcome.lessBytes() >> 20);
    }

    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) {
        int kills = Integer.parseInt(arguments[0]);
        ExpertRounds.Mode[] modes = ExpertRounds.Mode.values();
        List<Outcome> outcomes = new ArrayList<>();
        try (KilledGpuExperts pairs = new KilledGpuExperts(new Random(Long.getLong("kill.seed", 1)))) {
            for (int victim = 0; victim < RANKS; victim++) {
                print("first", pairs.kill(victim, ExpertRounds.Mode.LOW_LATENCY));
            }
            for (int i = 0; i < kills; i++) {
                outcomes.add(pairs.kill(i % RANKS, modes[i / RANKS % modes.length]));
                print(Integer.toString(i + 1), outcomes.getLast());
            }
            // the pair after the last
            print("next", pairs.kill(0, ExpertRounds.Mode.LOW_LATENCY));
        }
        System.out.printf(
                Locale.ROOT,
                "%d killed: all survivors ended with ExpertsLostException of the rank; slowest ended after %.1f ms, median %.1f;"
                        + " closed within %.1f ms; memory free within %.1f ms%n",
                kills,
                greatest(outcomes.stream().mapToLong(Outcome::endNanos).toArray()),
                median(outcomes.stream().mapToLong(Outcome::endNanos).toArray()),
                greatest(outcomes.stream().mapToLong(Outcome::closeNanos).toArray()),
                greatest(outcomes.stream().mapToLong(Outcome::backNanos).toArray()));
    }

    private static double greatest(long[] nanos) {
        return millis(Arrays.stream(nanos).max().orElse(0));
    }

    private static double median(long[] nanos) {
        Arrays.sort(nanos);
        return nanos.length == 0 ? 0 : millis(nanos[nanos.length / 2]);
    }
}
