package io.sluice.samples.command;

import io.sluice.samples.SluiceCommand;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line that starts this program once more: with the same Java, options and class path. */
final class JavaCommand {
    private JavaCommand() {}

    static List<String> of(List<String> arguments) {
        return of(List.of(), arguments);
    }

    /** With these options of the virtual machine besides, and these arguments. */
    static List<String> of(List<String> options, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> !isAgent(option))
                .forEach(command::add);
        command.addAll(options);
        // A jar that is run by -jar may allow it in its manifest, which counts for nothing on a class path.
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SluiceCommand.class.getName()));
        command.addAll(arguments);
        return command;
    }

    /** A debugger's port or a profiler's file serves one process alone. */
    private static boolean isAgent(String option) {
        return option.startsWith("-agent") || option.startsWith("-javaagent") || option.startsWith("-Xrun");
    }
}
