package io.sluice.samples.command;

import io.sluice.collectives.AlgorithmTable;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.MachineFacts;
import io.sluice.samples.bench.BenchException;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The ranks of a measurement: this process is rank 0 and starts the others, or is one of them. */
final class BenchRanks {
    private static final List<String> OWN = List.of("--ranks", "--rank", "--rank-zero");
    private static final int MOST_RANKS = 64;

    /** A rank that is left learns within this that the first one, which has ended, is gone. */
    private static final Duration PARENT_GONE = Duration.ofSeconds(3);

    private static final String NAME = "bench";

    @Option(names = "--ranks", paramLabel = "N", split = ",", defaultValue = "2")
    private List<Integer> counts = new ArrayList<>();

    @Option(names = "--rank", hidden = true)
    private int rank;

    @Option(names = "--rank-zero", hidden = true)
    private @Nullable EngineAddress rankZero;

    /** The work of a rank with its team, until it is done or has to end. */
    interface Work {
        void run(TransferEngine engine, Team team, BooleanSupplier interrupted);
    }

    /**
     * Where ranks run.
     *
     * @param cpu the processors that they are bound to, one each, in turn; {@code null} for none
     * @param allowed those that may be used
     */
    record Place(TransportOption transport, @Nullable CpuList cpu, CpuList allowed, Termination termination) {
        /** How many processors the ranks share. */
        int processors() {
            return cpu == null ? allowed.size() : cpu.size();
        }

        /** The command that binds the process of a rank to its processor. */
        private List<String> launcher(int which) {
            return cpu == null ? List.of() : Affinity.launcher("--cpu", cpu.single(which % cpu.size()), allowed);
        }
    }

    /** Complains about options of ranks where there are none. */
    static void refuse(Predicate<String> isGiven) {
        for (String option : OWN) {
            ProgramCommand.require(!isGiven.test(option), option + " is for --collective and --experts");
        }
    }

    /** Complains about numbers of ranks that cannot be. */
    void check() {
        for (int count : counts) {
            ProgramCommand.require(
                    count >= 1 && count <= MOST_RANKS, "--ranks: give 1 to " + MOST_RANKS + ", not " + count);
        }
    }

    /** The numbers of ranks to measure, one after the other. */
    List<Integer> counts() {
        return List.copyOf(counts);
    }

    /** This process's. */
    int rank() {
        return rank;
    }

    /** Whether another process is rank 0. */
    boolean isFollower() {
        return rankZero != null;
    }

    /**
     * Complains about memory that is not to be had.
     *
     * @param option that says how large it is
     * @param bytes gives what all ranks together take; may throw {@link ArithmeticException} beyond 2<sup>63</sup>
     */
    static void requireMemory(String option, int count, LongSupplier bytes) {
        long available = MachineFacts.availableMemory();
        try {
            long needed = bytes.getAsLong();
            ProgramCommand.require(
                    available < 0 || needed <= available / 2,
                    option + ": the buffers of " + count + " ranks take " + ByteSize.format(needed)
                            + ", more than half of the " + ByteSize.format(available)
                            + " that are free; give smaller sizes or fewer ranks");
        } catch (ArithmeticException e) {
            throw CommandFailure.usage(option + ": the buffers of " + count + " ranks take more than 2^63 bytes");
        }
    }

    private static TransferEngine engine(TransportOption transport) {
        return TransferEngine.open(transport
                .engineOptions()
                .listen(ServerOptions.LOOPBACK.host(), ServerOptions.LOOPBACK.port())
                .build());
    }

    private static TeamOptions team(int which, int count, EngineAddress meeting, AlgorithmTable algorithms) {
        return TeamOptions.rank(which).of(count).rendezvous(meeting).name(NAME).algorithms(algorithms);
    }

    /**
     * Starts the other ranks, and works with them as rank 0.
     *
     * @param arguments what each of them is started with, but for its number and its transports: it does the same
     */
    void lead(
            int count,
            Place place,
            List<String> arguments,
            AlgorithmTable algorithms,
            BooleanSupplier interrupted,
            Work work)
            throws IOException {
        List<String> complete = new ArrayList<>(arguments);
        complete.addAll(List.of("--ranks", Integer.toString(count)));
        complete.addAll(place.transport().arguments());
        try (TransferEngine engine = engine(place.transport());
                RankProcesses others = RankProcesses.start(count, complete, engine.address(), place::launcher)) {
            Team team =
                    others.await(Team.form(engine, team(0, count, engine.address(), algorithms)), place.termination());
            try {
                work.run(engine, team, interrupted);
            } finally {
                close(team);
            }
        }
    }

    /**
     * Works as another rank until the first one's process, which does all the talking, has no more to do or is gone.
     *
     * @return the exit status
     */
    int follow(Place place, AlgorithmTable algorithms, Work work) {
        CompletableFuture<@Nullable Void> end = ServerOptions.inputEnd().toFuture();
        BooleanSupplier ended = () -> end.isDone() || place.termination().isRequested();
        EngineAddress meeting = rankZero;
        if (meeting == null) {
            throw new IllegalStateException("this process is rank 0");
        }
        try (TransferEngine engine = engine(place.transport())) {
            CompletableFuture<Team> forming = Team.form(engine, team(rank, counts.getFirst(), meeting, algorithms));
            CompletableFuture.anyOf(forming, end).handle((any, error) -> true).join();
            if (!forming.isDone()) {
                // The first rank's process is gone.
                return ExitCodes.OK;
            }
            Team team = RankProcesses.result(forming);
            try {
                work.run(engine, team, ended);
                end.join();
            } catch (SluiceException | BenchException e) {
                if (!endsSoon(end) && !place.termination().isRequested()) {
                    throw CommandFailure.failed("rank " + rank + ": " + e.getMessage());
                }
            } finally {
                close(team);
            }
        }
        return ExitCodes.OK;
    }

    private static boolean endsSoon(CompletableFuture<@Nullable Void> end) {
        try {
            end.get(PARENT_GONE.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    private static void close(Team team) {
        RankProcesses.result(team.closeAsync());
    }
}
