package io.sluice.samples.compare;

import java.io.IOException;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Finds the programs that measurements need, and builds our own. The launcher has installed what it may. */
final class Preparation {

    private static final String INSTALL = "apt-get install -y --no-install-recommends ";

    private Preparation() {}

    /**
     * Looks for programs, and builds the C program.
     *
     * @param needed programs
     * @return why those are not there that are not
     */
    static Map<Program, String> prepare(Set<Program> needed, BenchEnvironment workbench) throws IOException {
        Set<Program> missing = EnumSet.copyOf(needed);
        missing.removeIf(Program::isPresent);
        Map<Program, String> reasons = new EnumMap<>(Program.class);
        for (Program program : missing) {
            reasons.put(
                    program,
                    program.executable() + " is not here; on Debian, as root: " + INSTALL
                            + String.join(" ", program.packages()));
        }
        if (needed.contains(Program.CEILING) && !missing.contains(Program.CEILING)) {
            try {
                BaselineBuild.build(workbench.folder(), BaselineBuild.OPTIMIZED, workbench.interrupted());
            } catch (MeasurementFailedException e) {
                reasons.put(Program.CEILING, "the C program cannot be built: " + e.getMessage());
            }
        }
        return reasons;
    }
}
