package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntFunction;

/** The other ranks of a command, each a process on this machine. They end when this process does. Used by one thread. */
final class RankProcesses implements AutoCloseable {
    private static final Duration END = Duration.ofSeconds(6);
    private static final long POLL_MILLIS = 10;

    private final List<OwnedProcess> processes = new ArrayList<>();

    /**
     * Starts them: ranks 1 and on.
     *
     * @param ranks how many there are with this process, which is rank 0
     * @param arguments the command and its options, to which each rank's own are added
     * @param rankZero where this process listens
     */
    static RankProcesses start(int ranks, List<String> arguments, EngineAddress rankZero) throws IOException {
        return start(ranks, arguments, rankZero, rank -> List.of());
    }

    /**
     * The same.
     *
     * @param launcher what starts the process of a rank; none for nothing
     */
    static RankProcesses start(
            int ranks, List<String> arguments, EngineAddress rankZero, IntFunction<List<String>> launcher)
            throws IOException {
        RankProcesses started = new RankProcesses();
        try {
            for (int rank = 1; rank < ranks; rank++) {
                List<String> complete = new ArrayList<>(arguments);
                complete.addAll(List.of("--rank", Integer.toString(rank), "--rank-zero", rankZero.toString()));
                List<String> command = new ArrayList<>(launcher.apply(rank));
                command.addAll(JavaCommand.of(complete));
                ProcessBuilder builder = new ProcessBuilder(command)
                        .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                        .redirectError(ProcessBuilder.Redirect.INHERIT);
                // These are about peers on other machines, and about this process.
                builder.environment().keySet().removeAll(List.of("SLUICE_LISTEN", "SLUICE_ADVERTISE"));
                started.processes.add(new OwnedProcess("rank " + rank, builder.start(), END));
            }
            return started;
        } catch (IOException | RuntimeException e) {
            started.close();
            throw e;
        }
    }

    /**
     * Waits for what needs all of them.
     *
     * @throws CommandFailure if one ends before, or this process is to end
     */
    <T> T await(CompletableFuture<T> future, Termination termination) {
        while (!future.isDone()) {
            if (termination.isRequested()) {
                throw CommandFailure.failed("interrupted before all ranks were ready");
            }
            for (int i = 0; i < processes.size(); i++) {
                if (processes.get(i).hasEnded(POLL_MILLIS)) {
                    throw CommandFailure.failed(String.format(
                            Locale.ROOT,
                            "rank %d ended with status %d before it was ready; what it has to say stands above",
                            i + 1,
                            processes.get(i).status()));
                }
            }
        }
        return result(future);
    }

    /** Waits for a result; an error is thrown as it is. */
    static <T> T result(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof SluiceException error) {
                throw error;
            }
            throw e;
        }
    }

    /** Kills the last rank (SIGKILL). */
    void killLast() {
        processes.getLast().kill();
    }

    @Override
    public void close() {
        processes.forEach(OwnedProcess::askToEnd);
        processes.forEach(OwnedProcess::close);
    }
}
