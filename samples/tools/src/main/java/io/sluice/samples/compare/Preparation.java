package io.sluice.samples.compare;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Finds the programs that measurements need, and provides our own. The launcher has installed what it may. */
final class Preparation {
    private Preparation() {}

    /**
     * Looks for programs, and provides the C program.
     *
     * @return why those are not there that are not
     */
    static Map<Program, String> prepare(Set<Program> needed, BenchEnvironment workbench) throws IOException {
        Set<Program> missing = EnumSet.copyOf(needed);
        missing.removeIf(Program::isPresent);
        Map<Program, String> reasons = new EnumMap<>(Program.class);
        for (Program program : missing) {
            reasons.put(
                    program,
                    program.executable() + " is not here; on Debian, as root: apt-get install -y"
                            + " --no-install-recommends "
                            + String.join(" ", program.packages()));
        }
        if (needed.contains(Program.TORCH) && !missing.contains(Program.TORCH)) {
            String reason = TorchRun.unavailable(workbench);
            if (reason != null) {
                reasons.put(Program.TORCH, reason);
            }
        }
        for (CProgram source : CProgram.values()) {
            Set<Program> users = EnumSet.copyOf(needed);
            users.removeIf(program -> program.source() != source || missing.contains(program));
            if (!users.isEmpty()) {
                provide(source, users, workbench, reasons);
            }
        }
        for (CollectiveDriver driver : CollectiveDriver.values()) {
            if (needed.contains(driver.program()) && !missing.contains(driver.program())) {
                try {
                    driver.build(workbench.folder(), workbench.interrupted());
                } catch (MeasurementFailedException e) {
                    reasons.put(driver.program(), "our program on it cannot be built: " + e.getMessage());
                }
            }
        }
        return reasons;
    }

    private static void provide(
            CProgram source, Set<Program> users, BenchEnvironment workbench, Map<Program, String> reasons)
            throws IOException {
        try {
            BaselineBuild.provide(source, workbench.folder(), workbench.interrupted());
        } catch (MeasurementFailedException e) {
            users.forEach(user -> reasons.put(user, "the C program cannot be built: " + e.getMessage()));
            return;
        }
        for (Program user : users) {
            String reason = GpuRun.unavailable(user, workbench);
            if (reason != null) {
                reasons.put(user, reason);
            }
        }
    }

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** The version of each that is here and tells it. */
    static Map<String, String> versions(Collection<Program> programs, BenchEnvironment workbench) {
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
            // A request to end is seen right after it, where what is measured is kept.
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
