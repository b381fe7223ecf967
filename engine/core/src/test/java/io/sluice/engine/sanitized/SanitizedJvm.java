package io.sluice.engine.sanitized;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A virtual machine with the sanitized library. It and all that it starts find the library on the library path, so the processes
 * that tests start have it as well, and all reports of the sanitizers lie in one folder.
 */
final class SanitizedJvm {
    /**
     * The signals of faults stay the virtual machine's, which lives by them, and what it does not free is not counted as leaked.
     * Freed memory is kept apart for a while, but not for a quarter of a gigabyte in each process.
     */
    private static final String ADDRESS_OPTIONS = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"
            + ":allow_user_segv_handler=1:use_sigaltstack=0:detect_leaks=0:abort_on_error=1:quarantine_size_mb=64";

    private final SanitizedLibrary library;
    private final Path folder;
    private final List<String> options = new ArrayList<>();
    private final List<Path> classes = new ArrayList<>();
    private final Map<String, String> environment = new TreeMap<>();

    /**
     * One that is not started yet.
     *
     * @param folder for its output and the sanitizers' reports; it is empty
     */
    SanitizedJvm(SanitizedLibrary library, Path folder) {
        this.library = library;
        this.folder = folder;
    }

    SanitizedJvm options(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    SanitizedJvm environment(Map<String, String> more) {
        environment.putAll(more);
        return this;
    }

    /** Classes before those of this virtual machine. */
    SanitizedJvm classes(List<Path> more) {
        classes.addAll(more);
        return this;
    }

    /**
     * How it ended.
     *
     * @param status its status; -1 if it did not end in time
     * @param log what it printed
     * @param reports what the sanitizers reported, of all its processes
     */
    record End(int status, Path log, List<String> reports) {
        String text() throws IOException {
            return Files.readString(log);
        }
    }

    End run(Duration bound, String main, List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.addAll(List.of("-Xmx1g", "-XX:MaxDirectMemorySize=1g", "-Xcheck:jni"));
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-XX:+EnableDynamicAgentLoading"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath(), main));
        command.addAll(arguments);

        Path log = folder.resolve("output.txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        builder.environment().put("LD_PRELOAD", library.runtime().toString());
        builder.environment().put("LD_LIBRARY_PATH", library.folder().toString());
        builder.environment().put("ASAN_OPTIONS", ADDRESS_OPTIONS + ":log_path=" + report("address"));
        builder.environment().put("UBSAN_OPTIONS", "print_stacktrace=1:log_path=" + report("undefined"));
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(bound.toNanos(), TimeUnit.NANOSECONDS);
            return new End(ended ? process.exitValue() : -1, log, reports());
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }

    private String classPath() {
        return Stream.concat(
                        classes.stream().map(Path::toString),
                        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                                .map(entry -> Path.of(entry).toAbsolutePath().toString()))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private Path report(String sanitizer) {
        return folder.resolve("report-" + sanitizer);
    }

    private List<String> reports() throws IOException {
        List<String> reports = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                if (file.getFileName().toString().startsWith("report-")) {
                    reports.add(Files.readString(file));
                }
            }
        }
        return reports;
    }
}
