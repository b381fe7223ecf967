package io.sluice.samples.command;

import io.sluice.samples.compare.SearchPath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Binds processes to processors before they begin, with {@code taskset}. */
final class Affinity {
    private Affinity() {}

    /**
     * A program that starts a process on given processors.
     *
     * @param option names the option that the processors are of
     * @param cpus which; {@code null} for those of this process
     * @return the beginning of a command line, empty for {@code null}
     * @throws CommandFailure if not all of them may be used, or there is no {@code taskset}
     */
    static List<String> launcher(String option, @Nullable CpuList cpus, CpuList allowed) {
        if (cpus == null) {
            return List.of();
        }
        if (!cpus.isWithin(allowed)) {
            throw CommandFailure.usage(option + ": not all of the processors " + cpus.text()
                    + " may be used; these may: " + allowed.text());
        }
        return List.of(taskset(option), "-c", cpus.text());
    }

    private static String taskset(String option) {
        Path taskset = SearchPath.find("taskset");
        if (taskset == null) {
            throw CommandFailure.failed(option + " needs taskset, which is not here: install the package util-linux");
        }
        return taskset.toString();
    }

    /** Runs a command in place of this one. Its standard input ends when this process does, however it ends. */
    static int run(List<String> command, Termination termination) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        // A Ctrl-C reaches that process by itself, other signals only this one.
        termination.requested().subscribe(nothing -> {}, error -> {}, process::destroy);
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw CommandFailure.failed("interrupted");
        }
    }
}
