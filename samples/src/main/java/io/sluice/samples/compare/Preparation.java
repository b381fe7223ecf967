package io.sluice.samples.compare;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Brings about the programs that measurements need, as far as possible. */
final class Preparation {

    private Preparation() {}

    /**
     * Installs what is missing, where that is allowed, and builds the C program.
     *
     * @param needed programs
     * @param err says what is done
     * @return why those are not there that are not
     */
    static Map<Program, String> prepare(Set<Program> needed, Workbench workbench, PrintWriter err) throws IOException {
        Set<Program> missing = missing(needed);
        if (!missing.isEmpty() && DebianPackages.mayInstall()) {
            DebianPackages.install(packages(missing), workbench.folder(), workbench.interrupted(), err);
            missing = missing(needed);
        }
        Map<Program, String> reasons = new EnumMap<>(Program.class);
        for (Program program : missing) {
            reasons.put(program, program.executable() + " is not here; " + DebianPackages.advice(program.packages()));
        }
        if (needed.contains(Program.CEILING) && !missing.contains(Program.CEILING)) {
            try {
                CeilingBuild.build(workbench.folder(), CeilingBuild.OPTIMIZED, workbench.interrupted());
            } catch (MeasurementFailedException e) {
                reasons.put(Program.CEILING, "the C program cannot be built: " + e.getMessage());
            }
        }
        return reasons;
    }

    private static Set<Program> missing(Set<Program> needed) {
        Set<Program> missing = EnumSet.copyOf(needed);
        missing.removeIf(Program::isPresent);
        return missing;
    }

    private static List<String> packages(Set<Program> programs) {
        return programs.stream().flatMap(program -> program.packages().stream()).toList();
    }
}
