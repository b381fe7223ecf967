package io.sluice.samples.compare;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Our small programs on other libraries of collectives, built from sources in this package's resources. The libraries are those of the
 * machine, or what the launcher has unpacked: a folder on the path with a {@code usr} next to it.
 */
enum CollectiveDriver {
    OPENMPI(
            "mpirun.openmpi",
            "usr/lib/%s/openmpi/include",
            "mpi.h",
            "usr/lib/%s/openmpi/lib",
            "mpi",
            Sources.collectives("mpi.c")),
    /** Dispatch and combine of experts. */
    OPENMPI_EXPERTS(
            OPENMPI.executable, OPENMPI.include, OPENMPI.header, OPENMPI.libraries, OPENMPI.library, Sources.EXPERTS),
    MPICH("mpiexec.hydra", "usr/include/%s/mpich", "mpi.h", "usr/lib/%s", "mpich", Sources.collectives("mpi.c")),
    GLOO("", "usr/include", "gloo/config.h", "usr/lib", "gloo", Sources.collectives("gloo.cc"));

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String executable;
    private final String include;
    private final String header;
    private final String libraries;
    private final String library;
    private final List<String> sources;

    CollectiveDriver(
            String executable, String include, String header, String libraries, String library, List<String> sources) {
        this.executable = executable;
        this.include = include;
        this.header = header;
        this.libraries = libraries;
        this.library = library;
        this.sources = sources;
    }

    /** The resources that a program is built from. */
    private static final class Sources {
        private static final List<String> EXPERTS = List.of(
                "arguments.h",
                "arguments.c",
                "experts/experts.h",
                "experts/measure.c",
                "experts/plan.c",
                "experts/routes.c",
                "experts/vectors.c",
                "experts/mpi/alltoallv.c");

        private Sources() {}

        private static List<String> collectives(String ofLibrary) {
            return List.of(
                    "arguments.h",
                    "arguments.c",
                    "collective/collective.h",
                    "collective/content.c",
                    "collective/latencies.c",
                    "collective/main.c",
                    "collective/measure.c",
                    "collective/" + ofLibrary);
        }
    }

    /** What starts ranks; empty if the program itself does. */
    String executable() {
        return executable;
    }

    /** The sources, as resources of this package. */
    List<String> resources() {
        return sources;
    }

    Program program() {
        return switch (this) {
            case OPENMPI -> Program.OPENMPI;
            case OPENMPI_EXPERTS -> Program.OPENMPI_EXPERTS;
            case MPICH -> Program.MPICH;
            case GLOO -> Program.GLOO;
        };
    }

    String fileName() {
        return "collective-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Whether the library, its header, what starts it and compilers are here. */
    boolean isPresent() {
        return place() != null
                && (executable.isEmpty() || SearchPath.find(executable) != null)
                && SearchPath.find(BaselineBuild.compiler()) != null
                && (this != GLOO || SearchPath.find(compilerOfCpp()) != null);
    }

    private static String compilerOfCpp() {
        String chosen = System.getenv("CXX");
        return chosen == null || chosen.isBlank() ? "c++" : chosen;
    }

    /** Where the header and the libraries are. */
    private record Place(Path include, Path libraries) {}

    private @Nullable Place place() {
        List<Path> roots = new ArrayList<>();
        String path = System.getenv("PATH");
        for (String entry : (path == null ? "" : path).split(File.pathSeparator)) {
            Path parent = Path.of(entry).toAbsolutePath().normalize().getParent();
            if (parent != null) {
                roots.add(parent);
            }
        }
        roots.add(Path.of("/"));
        for (Path root : roots) {
            for (String machine : machines(root.resolve("usr/lib"))) {
                String include = this.include.formatted(machine);
                if (Files.exists(root.resolve(include).resolve(header))) {
                    return new Place(root.resolve(include), root.resolve(libraries.formatted(machine)));
                }
            }
        }
        return null;
    }

    /** Such as x86_64-linux-gnu. */
    private static List<String> machines(Path folder) {
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, "*-linux-gnu*")) {
                entries.forEach(entry -> names.add(entry.getFileName().toString()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return names;
    }

    /**
     * Builds it.
     *
     * @param folder for the program, and a folder with its sources
     * @throws MeasurementFailedException if a compiler fails, with the last line of what it says
     */
    void build(Path folder, BooleanSupplier interrupted) throws IOException, MeasurementFailedException {
        Place place = place();
        if (place == null) {
            throw new MeasurementFailedException("the headers of " + library + " are not here");
        }
        Path folderOfSources = Files.createDirectory(folder.resolve(fileName() + ".sources"));
        List<String> objects = new ArrayList<>();
        for (String resource : sources) {
            Path file = BaselineBuild.copy(
                    resource, folderOfSources.resolve(Path.of(resource).getFileName()));
            if (!resource.endsWith(".h")) {
                Path object = file.resolveSibling(file.getFileName() + ".o");
                run(folder, interrupted, compile(place, file, object));
                objects.add(object.toString());
            }
        }
        List<String> link = new ArrayList<>(List.of(this == GLOO ? compilerOfCpp() : BaselineBuild.compiler()));
        link.addAll(List.of("-o", folder.resolve(fileName()).toString()));
        link.addAll(objects);
        // What the library needs in turn lies next to it, where it may be unpacked and not installed.
        link.addAll(
                List.of("-L" + place.libraries(), "-l" + library, "-Wl,--allow-shlib-undefined,--disable-new-dtags"));
        link.add("-Wl,-rpath," + place.libraries());
        for (String machine : machines(place.libraries())) {
            link.add("-Wl,-rpath," + place.libraries().resolve(machine));
        }
        run(folder, interrupted, link);
    }

    private List<String> compile(Place place, Path file, Path object) {
        boolean cpp = file.toString().endsWith(".cc");
        return List.of(
                cpp ? compilerOfCpp() : BaselineBuild.compiler(),
                cpp ? "-std=c++17" : "-std=c11",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-c",
                "-o",
                object.toString(),
                "-isystem",
                place.include().toString(),
                file.toString());
    }

    private static void run(Path folder, BooleanSupplier interrupted, List<String> command)
            throws MeasurementFailedException {
        try (ToolProcess build = ToolProcess.start(folder, Map.of(), PATIENCE, command)) {
            build.await(PATIENCE, interrupted);
        }
    }
}
