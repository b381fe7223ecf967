package io.sluice.samples.compare;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Command lines of the programs that are started only to see how long it takes, all by the Java that runs this one. */
final class StartCommand {

    private static final String HELLO_FILE = Hello.class.getSimpleName() + ".class";

    private StartCommand() {}

    /** Of a task; makes what it needs, once in a workbench's folder. */
    static List<String> of(StartTask task, boolean cached, int port, Workbench workbench)
            throws MeasurementFailedException {
        List<String> arguments = task.arguments(port);
        List<String> command = switch (task) {
            case HELLO -> java(helloFolder(workbench), Hello.class, arguments);
            case INFO -> uncached(workbench.own(arguments));
            case FIRST_TRANSFER -> java(System.getProperty("java.class.path"), FirstTransfer.class, arguments);
        };
        return cached ? AotCache.of(task, command, workbench).with(command) : command;
    }

    /** This program may itself have been started with a cache. */
    private static List<String> uncached(List<String> command) {
        return command.stream().filter(word -> !word.startsWith("-XX:AOTCache")).toList();
    }

    private static List<String> java(String classPath, Class<?> program, List<String> arguments) {
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
    private static String helloFolder(Workbench workbench) throws MeasurementFailedException {
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
