package io.sluice.samples.compare;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Installs packages where that is allowed, as the launcher does. */
final class DebianPackages {

    private static final String FORBIDDEN = "SLUICE_NO_INSTALL";
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final Map<String, String> NO_QUESTIONS = Map.of("DEBIAN_FRONTEND", "noninteractive");
    private static final List<String> INSTALL = List.of("apt-get", "install", "-y", "--no-install-recommends");

    private DebianPackages() {}

    /** Whether this process may install packages: as root, with apt, unless the user forbids it. */
    static boolean mayInstall() {
        return !"1".equals(System.getenv(FORBIDDEN)) && SearchPath.find("apt-get") != null && isRoot();
    }

    private static boolean isRoot() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
        } catch (IOException e) {
            return false;
        }
    }

    /** Installs some, and says so; a failure is told and no more, as whoever needs them looks for them anyway. */
    static void install(List<String> packages, Path folder, BooleanSupplier interrupted, PrintWriter err) {
        err.println("sluice: installing the Debian packages " + String.join(" ", packages));
        err.flush();
        // Without it a fresh machine knows no package at all.
        run(List.of("apt-get", "update"), folder, interrupted, err);
        List<String> command = new ArrayList<>(INSTALL);
        command.addAll(packages);
        run(command, folder, interrupted, err);
    }

    private static void run(List<String> command, Path folder, BooleanSupplier interrupted, PrintWriter err) {
        try (ToolProcess process = ToolProcess.start(folder, NO_QUESTIONS, PATIENCE, command)) {
            process.await(PATIENCE, interrupted);
        } catch (MeasurementFailedException e) {
            err.println("sluice: " + String.join(" ", command) + ": " + e.getMessage());
            err.flush();
        }
    }

    /** How to install some by hand. */
    static String advice(List<String> packages) {
        return "on Debian, as root: " + String.join(" ", INSTALL) + " " + String.join(" ", packages);
    }
}
