package io.sluice.samples.compare;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the programs that are compared with say of themselves. */
final class ProgramVersions {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private ProgramVersions() {}

    /** The version of each that is here and tells it. */
    static Map<String, String> of(Collection<Program> programs, BenchEnvironment workbench) {
        Map<String, String> versions = new TreeMap<>();
        for (Program program : programs) {
            if (program == Program.JUCX && program.isPresent()) {
                versions.put("jucx", UcxLibrary.bindingVersion());
            }
            List<String> question = program.versionQuestion();
            if (!question.isEmpty() && program.isPresent()) {
                ask(question, workbench, program, versions);
            }
        }
        return versions;
    }

    private static void ask(
            List<String> question, BenchEnvironment workbench, Program program, Map<String, String> versions) {
        try (ToolProcess process = ToolProcess.start(workbench.folder(), Map.of(), PATIENCE, question)) {
            // Whoever wants the program to end is heard right after it, where what is measured is kept.
            process.await(PATIENCE, () -> false)
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .findFirst()
                    .ifPresent(line -> versions.put(program.executable(), line));
        } catch (MeasurementFailedException e) {
            versions.put(program.executable(), "unknown: " + e.getMessage());
        }
    }
}
