package io.sluice.samples.compare;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Command lines of the programs that this one brings and starts to measure them, all by the Java that runs this one. */
final class StartCommand {
    private static final String HELLO_FILE = Hello.class.getSimpleName() + ".class";

    // as the launcher has them
    private static final List<String> BRIEF = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private StartCommand() {}

    /** Of a task; makes what it needs, once in a workbench's folder. */
    static List<String> of(ProgramStart.Task task, boolean cached, int port, BenchEnvironment workbench)
            throws MeasurementFailedException {
        List<String> command = switch (task) {
            case HELLO -> java(helloFolder(workbench), Hello.class, List.of());
            case INFO -> brief(uncached(workbench.own(List.of("info"))));
            case FIRST_TRANSFER ->
                java(System.getProperty("java.class.path"), FirstTransfer.class, List.of(Integer.toString(port), "kv"));
        };
        return cached ? cached(task, command, workbench) : command;
    }

    /** This program may itself have been started with a cache. */
    private static List<String> uncached(List<String> command) {
        return command.stream().filter(word -> !word.startsWith("-XX:AOTCache")).toList();
    }

    /** With the options that the launcher starts a short command with, unless its user has chosen some. */
    private static List<String> brief(List<String> command) {
        if (command.stream().anyMatch(word -> word.startsWith("-X"))) {
            return command;
        }
        List<String> changed = new ArrayList<>(command);
        changed.addAll(1, BRIEF);
        return changed;
    }

    /** Of a program with nothing but its class path and arguments. */
    static List<String> java(String classPath, Class<?> program, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath,
                program.getName()));
        command.addAll(arguments);
        return command;
    }

    /** A folder with that class and nothing else. */
    private static String helloFolder(BenchEnvironment workbench) throws MeasurementFailedException {
        Path root = workbench.folder().resolve("hello");
        Path file = root.resolve(Hello.class.getName().replace('.', File.separatorChar) + ".class");
        try (InputStream in = Hello.class.getResourceAsStream(HELLO_FILE)) {
            if (in == null) {
                throw new MeasurementFailedException("this program lacks its class " + HELLO_FILE);
            }
            if (!Files.exists(file)) {
                Files.createDirectories(root.resolve(file).getParent());
                Files.copy(in, file);
            }
        } catch (IOException e) {
            throw new MeasurementFailedException(HELLO_FILE + " cannot be written: " + e.getMessage());
        }
        return root.toString();
    }

    /**
     * With what the virtual machine has learned of the program in a run, for it to start sooner in others: {@code
     * -XX:AOTCache}. It is made by one run if there is none yet.
     */
    private static List<String> cached(ProgramStart.Task task, List<String> command, BenchEnvironment workbench)
            throws MeasurementFailedException {
        Path file = workbench.folder().resolve(task.name().toLowerCase(Locale.ROOT) + ".aot");
        if (!Files.exists(file)) {
            workbench.runAlone(
                    "an AOT cache for " + task.description(),
                    Map.of("SLUICE_TRANSPORTS", "tcp"),
                    withOption("-XX:AOTCacheOutput=" + file, command));
            if (!Files.exists(file)) {
                throw new MeasurementFailedException("this JVM makes no AOT cache");
            }
        }
        return withOption("-XX:AOTCache=" + file, command);
    }

    private static List<String> withOption(String option, List<String> command) {
        List<String> changed = new ArrayList<>(command);
        changed.add(1, option);
        return changed;
    }

    /** Why no cache can be made for this program, or {@code null} if one can. */
    static @Nullable String cacheUnavailable() {
        for (String part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (Files.isDirectory(Path.of(part))) {
                return "an AOT cache needs a class path of jars, and " + part
                        + " is a folder: run the program that './sluice' builds";
            }
        }
        return null;
    }
}
