package io.sluice.samples.command;

import io.sluice.samples.SluiceCommand;
import io.sluice.testkit.Patience;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The program that tests start: the packaged one, with an AOT cache that the first start of a build makes, as a start then
 * takes a third less of a processor. Where it is not packaged, as in an IDE, the classes of the tests.
 *
 * @param classPath of the program
 * @param options of the virtual machine that go with it
 */
record TestedProgram(String classPath, List<String> options) {

    private static final String JAR = "sluice.test.program";

    private static final TestedProgram CHOSEN = choose();

    /** The same for all tests of this JVM. */
    static TestedProgram chosen() {
        return CHOSEN;
    }

    /** Whether all of it lies in jars. */
    boolean isPackaged() {
        return classPath.equals(System.getProperty(JAR));
    }

    private static TestedProgram choose() {
        String jar = System.getProperty(JAR, "");
        if (jar.isEmpty() || !Files.exists(Path.of(jar))) {
            // it may be started in another folder
            String classPath = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                    .map(entry -> Path.of(entry).toAbsolutePath().toString())
                    .collect(Collectors.joining(File.pathSeparator));
            return new TestedProgram(classPath, List.of());
        }
        try {
            return new TestedProgram(jar, withCache(Path.of(jar)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Several JVMs run tests at the same time: the first makes it. */
    private static List<String> withCache(Path jar) throws IOException {
        Path cache = jar.resolveSibling("tested-program.aot");
        try (FileChannel lock = FileChannel.open(
                jar.resolveSibling("tested-program.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            lock.lock();
            if (!Files.exists(cache) || Files.getLastModifiedTime(cache).compareTo(newest(jar)) < 0) {
                Files.deleteIfExists(cache);
                make(cache, jar);
            }
        }
        return Files.exists(cache) ? List.of("-XX:AOTCache=" + cache, "-Xlog:aot*=off") : List.of();
    }

    private static FileTime newest(Path jar) throws IOException {
        try (Stream<Path> libraries = Files.list(jar.resolveSibling("lib"))) {
            List<FileTime> times = new ArrayList<>(List.of(Files.getLastModifiedTime(jar)));
            for (Path library : libraries.toList()) {
                times.add(Files.getLastModifiedTime(library));
            }
            return times.stream().max(Comparator.naturalOrder()).orElseThrow();
        }
    }

    private static void make(Path cache, Path jar) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(SluiceProcess.OPTIONS);
        command.addAll(List.of("-XX:AOTCacheOutput=" + cache, "-cp", jar.toString(), SluiceCommand.class.getName()));
        command.addAll(List.of("bench", "--loopback", "--api", "vertx", "--metrics-port", "0", "--verify"));
        command.addAll(List.of("--size", "4KiB", "--warmup", "10ms", "--duration", "50ms", "--transport", "tcp"));
        Process process = new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Patience.exit(process);
    }
}
