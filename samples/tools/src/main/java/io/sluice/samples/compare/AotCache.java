package io.sluice.samples.compare;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the virtual machine has learned of a program in a run, for it to start sooner in others: {@code -XX:AOTCache}.
 *
 * @param path the file
 */
record AotCache(Path path) {

    /** The one for a task in a workbench's folder, made by one run of its command line if there is none yet. */
    static AotCache of(StartTask task, List<String> command, BenchEnvironment workbench)
            throws MeasurementFailedException {
        Path file = workbench.folder().resolve(task.name().toLowerCase(Locale.ROOT) + ".aot");
        AotCache cache = new AotCache(file);
        if (!Files.exists(file)) {
            workbench.runAlone(
                    "an AOT cache for " + task.description(),
                    Map.of("SLUICE_TRANSPORTS", "tcp"),
                    withOption("-XX:AOTCacheOutput=" + file, command));
            if (!Files.exists(file)) {
                throw new MeasurementFailedException("this JVM makes no AOT cache");
            }
        }
        return cache;
    }

    /** Why none can be made for this program, or {@code null} if one can. */
    static @Nullable String unavailable() {
        for (String part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (Files.isDirectory(Path.of(part))) {
                return "an AOT cache needs a class path of jars, and " + part
                        + " is a folder: run the program that './sluice' builds";
            }
        }
        return null;
    }

    /** The command line that starts with it. */
    List<String> with(List<String> command) {
        return withOption("-XX:AOTCache=" + path, command);
    }

    private static List<String> withOption(String option, List<String> command) {
        List<String> changed = new ArrayList<>(command);
        changed.add(1, option);
        return changed;
    }
}
