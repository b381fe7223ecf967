package io.sluice.samples.compare;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Command lines of the programs that this one brings and starts to measure them, all by the Java that runs this one. */
final class StartCommand {

    private static final String HELLO_FILE = Hello.class.getSimpleName() + ".class";

    // as the launcher has them
    private static final List<String> BRIEF = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private StartCommand() {}

    /** Of a task; makes what it needs, once in a workbench's folder. */
    static List<String> of(StartTask task, boolean cached, int port, BenchEnvironment workbench)
            throws MeasurementFailedException {
        List<String> arguments = task.arguments(port);
        List<String> command = switch (task) {
            case HELLO -> java(helloFolder(workbench), Hello.class, arguments);
            case INFO -> brief(uncached(workbench.own(arguments)));
            case FIRST_TRANSFER -> java(System.getProperty("java.class.path"), FirstTransfer.class, arguments);
        };
        return cached ? AotCache.of(task, command, workbench).with(command) : command;
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
}
