package io.sluice.samples.compare;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The C programs of a package ({@code ./sluice package}), which are built, as its host may have no compiler. */
final class PackagedPeers {

    /** The variable that the package's launcher names their folder in. */
    private static final String FOLDER = "SLUICE_PEERS";

    private PackagedPeers() {}

    /** The program of a name, or {@code null} if this is no package or it lacks the program. */
    static @Nullable Path find(String name) {
        String folder = System.getenv(FOLDER);
        if (folder == null || folder.isEmpty()) {
            return null;
        }
        Path file = Path.of(folder, name);
        return Files.isExecutable(file) ? file : null;
    }
}
