package io.sluice.jni;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a main class of the tests in a virtual machine of its own, because loading happens once in each. */
final class ChildJvm {
    record Output(int status, String text) {}

    private ChildJvm() {}

    /** Runs on the class path; the options come before the class. */
    static Output run(Class<?> main, String... options) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.add("--enable-native-access=ALL-UNNAMED");
        return onClassPath(main, arguments);
    }

    /** Runs on the class path of a virtual machine that allows no native access. */
    static Output runDenied(Class<?> main) throws IOException, InterruptedException {
        return onClassPath(main, List.of("--illegal-native-access=deny"));
    }

    /** Runs as the module that users of the module path get. */
    static Output runAsModule(Class<?> main) throws IOException, InterruptedException {
        return start(List.of(
                "--enable-native-access=io.sluice.jni",
                "--module-path",
                classes().toString(),
                "--patch-module",
                "io.sluice.jni=" + testClasses(),
                "--module",
                "io.sluice.jni/" + main.getName()));
    }

    /** The command that {@link #run(Class, String...)} runs, to be put behind another program. */
    static List<String> commandOf(Class<?> main, String... options) {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classes() + ":" + testClasses()));
        arguments.add(main.getName());
        return command(arguments);
    }

    /** A program to talk to by its standard streams, whose end is up to the caller. */
    static ProcessBuilder toTalkTo(Class<?> main) {
        return new ProcessBuilder(command(List.of(
                        "--enable-native-access=ALL-UNNAMED", "-cp", classes() + ":" + testClasses(), main.getName())))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
    }

    /** The folder of the module's classes, where the library lies too. */
    static Path classes() {
        return location(NativeLibrary.class);
    }

    /** The library that the build made for this machine. */
    static Path library() throws IOException {
        try (var files = Files.walk(classes().resolve("META-INF/native"))) {
            String platform = NativeLibrary.version().split(" ")[1];
            return files.filter(file -> file.endsWith(Path.of(platform, "libsluice.so")))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Runs any program, for a bounded time. */
    static Output run(ProcessBuilder program) throws IOException, InterruptedException {
        Path output = Files.createTempFile("sluice-child-", ".txt");
        try {
            Process process = program.redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            // a compiler may be among them
            boolean ended = process.waitFor(Patience.longBound().toSeconds(), TimeUnit.SECONDS);
            if (!ended) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor(Patience.BOUND.toSeconds(), TimeUnit.SECONDS);
            }
            String text = Files.readString(output);
            return new Output(ended ? process.exitValue() : -1, ended ? text : text + "\n(did not end in time)");
        } finally {
            Files.delete(output);
        }
    }

    private static Output onClassPath(Class<?> main, List<String> options) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(List.of("-cp", classes() + ":" + testClasses(), main.getName()));
        return start(arguments);
    }

    private static Output start(List<String> arguments) throws IOException, InterruptedException {
        return run(new ProcessBuilder(command(arguments)));
    }

    private static List<String> command(List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx64m", "-Xcheck:jni"));
        command.addAll(arguments);
        return command;
    }

    private static Path testClasses() {
        return location(ChildJvm.class);
    }

    private static Path location(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
