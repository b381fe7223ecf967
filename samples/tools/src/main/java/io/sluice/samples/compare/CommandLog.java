package io.sluice.samples.compare;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The command lines that a measurement has started last, as a user would type them. */
final class CommandLog {

    /** What a process does in a measurement. */
    enum Role {
        /** It has the memory. */
        TARGET,
        /** It measures. */
        INITIATOR
    }

    private final Map<String, Map<Role, String>> lines = new HashMap<>();
    private final String folder;

    /** For processes that may use a folder, which is gone later. */
    CommandLog(Path folder) {
        this.folder = folder + "/";
    }

    /** Takes note of a process that a measurement of a label has started. */
    void add(String label, Role role, Map<String, String> environment, List<String> command) {
        lines.computeIfAbsent(label, any -> new LinkedHashMap<>()).put(role, line(environment, command));
    }

    private String line(Map<String, String> environment, List<String> command) {
        List<String> words = new ArrayList<>();
        new TreeMap<>(environment).forEach((name, value) -> words.add(name + "=" + word(value)));
        command.forEach(word -> words.add(word(word)));
        return String.join(" ", words);
    }

    private String word(String text) {
        String classPath = System.getProperty("java.class.path");
        String shown = text.equals(classPath) ? "$CLASS_PATH" : text.replace(folder, "");
        return shown.contains(" ") ? "'" + shown + "'" : shown;
    }

    /** Those of a label, the target's first; none if it has started nothing. */
    List<String> of(String label) {
        return lines.getOrDefault(label, Map.of()).entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(Map.Entry::getValue)
                .collect(Collectors.toUnmodifiableList());
    }
}
