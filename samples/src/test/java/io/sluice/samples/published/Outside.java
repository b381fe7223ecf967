package io.sluice.samples.published;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.sluice.testkit.Patience;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;

/**
 * A place outside the build: a local repository with this project's poms and jars as they are published, and all else from the
 * repository of the build, by links. Maven works there without a network, and knows nothing of the build.
 */
final class Outside implements AutoCloseable {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final String GROUP = "io/sluice";
    static final String VERSION =
            element(Path.of("pom.xml"), "version").orElseThrow(() -> new AssertionError("no version"));

    private final Path folder;
    private final Path repository;

    private Outside(Path folder) {
        this.folder = folder;
        this.repository = folder.resolve("repository");
    }

    /** Publishes the parents and these modules, by their folders. */
    static Outside publish(Path folder, List<String> parents, List<String> modules) throws IOException {
        Outside outside = new Outside(folder.toRealPath());
        outside.linkRepository();
        for (String parent : parents) {
            outside.publish(ROOT.resolve(parent), false);
        }
        outside.publishBom();
        for (String module : modules) {
            outside.publish(ROOT.resolve(module), true);
        }
        return outside;
    }

    /** The class path at run time of each project, by Maven: of those that depend on these artifacts alone. */
    List<String> classPathsOfUsers(List<List<String>> dependencies) throws IOException {
        Path users = Files.createDirectory(folder.resolve("users"));
        StringBuilder modules = new StringBuilder();
        for (int i = 0; i < dependencies.size(); i++) {
            String needed = dependencies.get(i).stream()
                    .map(artifact -> "<dependency><groupId>io.sluice</groupId><artifactId>" + artifact
                            + "</artifactId><version>" + VERSION + "</version></dependency>")
                    .collect(Collectors.joining());
            String name = userOf(dependencies.get(i));
            Path user = Files.createDirectory(users.resolve(name));
            Files.writeString(user.resolve("pom.xml"), pom(name, "<dependencies>" + needed + "</dependencies>"));
            modules.append("<module>").append(name).append("</module>");
        }
        Files.writeString(
                users.resolve("pom.xml"), pom("users", "<packaging>pom</packaging><modules>" + modules + "</modules>"));
        String output = buildClassPaths(users.resolve("pom.xml"));
        List<String> classPaths = new ArrayList<>();
        for (int i = 0; i < dependencies.size(); i++) {
            classPaths.add(classPath(users.resolve(userOf(dependencies.get(i))), output));
        }
        return classPaths;
    }

    /** The class path at run time of a project that imports the BOM, with what Maven has compiled in front. */
    String compile(Path project) throws IOException {
        String output = buildClassPaths(project.resolve("pom.xml"), plugin("maven-compiler-plugin") + ":compile");
        assertThat(project.resolve("target/classes"))
                .as("Maven compiles %s%n%s", project.getFileName(), output)
                .isNotEmptyDirectory();
        return project.resolve("target/classes") + File.pathSeparator + classPath(project, output);
    }

    private static String userOf(List<String> artifacts) {
        return "user-of-" + String.join("-and-", artifacts);
    }

    /** The class path at run time of each of these modules, as the build has it, with the versions of the parent. */
    List<String> classPathsOfBuild(List<String> parents, List<String> modules) throws IOException {
        Path build = folder.resolve("build");
        for (String module : Stream.concat(parents.stream(), modules.stream()).toList()) {
            Path copy = Files.createDirectories(build.resolve(module));
            Files.copy(ROOT.resolve(module).resolve("pom.xml"), copy.resolve("pom.xml"));
        }
        String pom = Files.readString(build.resolve("pom.xml"));
        for (String unpublished : List.of("samples", "samples/snippets", "docs/site")) {
            pom = pom.replace("<module>" + unpublished + "</module>", "");
        }
        Files.writeString(build.resolve("pom.xml"), pom);
        Path engines = build.resolve("engine/pom.xml");
        Files.writeString(engines, Files.readString(engines).replace("<module>bom</module>", ""));
        String output = buildClassPaths(build.resolve("pom.xml"));
        List<String> classPaths = new ArrayList<>();
        for (String module : modules) {
            classPaths.add(classPath(build.resolve(module), output));
        }
        return classPaths;
    }

    /** The jars of a class path that are not this project's, as group, artifact and version. */
    List<String> foreign(String classPath) {
        return Stream.of(classPath.split(File.pathSeparator))
                .map(Path::of)
                .filter(Predicate.not(jar -> jar.startsWith(repository.resolve(GROUP))))
                .map(jar -> repository.relativize(jar.getParent()).toString())
                .sorted()
                .toList();
    }

    /** Takes the links away. */
    @Override
    public void close() throws IOException {
        unlink(repository);
        unlink(repository.resolve("io"));
    }

    private static void unlink(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            for (Path entry : entries.filter(Files::isSymbolicLink).toList()) {
                Files.delete(entry);
            }
        }
    }

    /** Runs a program to its end, in this folder; returns what it printed. Another exit status than 0 fails the test. */
    String run(List<String> command) throws IOException {
        Ended ended = runToEnd(command);
        assertThat(ended.status()).as("%s%n%s", command, ended.printed()).isZero();
        return ended.printed();
    }

    private record Ended(int status, String printed) {}

    private Ended runToEnd(List<String> command) throws IOException {
        Path output = Files.createTempFile(folder, "output", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m");
        Process process = builder.start();
        try {
            assertThat(process.waitFor(Patience.longBound().toSeconds(), TimeUnit.SECONDS))
                    .as("%s ends", command)
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while " + command, e);
        } finally {
            process.destroyForcibly();
        }
        return new Ended(process.exitValue(), Files.readString(output));
    }

    private String buildClassPaths(Path pom, String... goalsBefore) throws IOException {
        List<String> goals = new ArrayList<>(List.of(goalsBefore));
        // Without the class path file the artifact could not be resolved.
        goals.addAll(List.of(
                plugin("maven-dependency-plugin") + ":build-classpath",
                "-Dmdep.outputFile=class-path",
                "-Dmdep.includeScope=runtime"));
        String output = runMaven(pom, goals.toArray(String[]::new));
        if (output.contains("Plugin org.apache.maven.plugins:maven-dependency-plugin")) {
            abort("the repository of this build lacks Maven's plugin for dependencies; ./sluice test brings it");
        }
        return output;
    }

    private static String plugin(String artifact) {
        String version = element(ROOT.resolve("pom.xml"), artifact + ".version")
                .orElseThrow(() -> new AssertionError("no version of " + artifact));
        return "org.apache.maven.plugins:" + artifact + ":" + version;
    }

    private String runMaven(Path pom, String... goalAndOptions) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                maven().toString(),
                "--offline",
                "--batch-mode",
                "--fail-at-end",
                "-Dstyle.color=never",
                "-Dmaven.repo.local=" + repository,
                "-f",
                pom.toString()));
        command.addAll(List.of(goalAndOptions));
        return runToEnd(command).printed();
    }

    private static String classPath(Path project, String output) throws IOException {
        Path file = project.resolve("class-path");
        assertThat(file)
                .as("Maven resolves %s%n%s", project.getFileName(), output)
                .exists();
        return Files.readString(file).strip();
    }

    private void linkRepository() throws IOException {
        Path real = Path.of(
                Logger.class.getProtectionDomain().getCodeSource().getLocation().getPath());
        // Group, artifact and version: org/slf4j/slf4j-api/2.0.20/slf4j-api-2.0.20.jar.
        Path source = real.getParent().getParent().getParent().getParent().getParent();
        if (!Files.isDirectory(source.resolve("io"))) {
            abort("the libraries of this test do not come from a repository of Maven's: " + real);
        }
        linkAll(source, Files.createDirectories(repository), "io");
        linkAll(source.resolve("io"), Files.createDirectories(repository.resolve("io")), "sluice");
    }

    private static void linkAll(Path from, Path to, String except) throws IOException {
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : entries.toList()) {
                if (!entry.getFileName().toString().equals(except)) {
                    Files.createSymbolicLink(to.resolve(entry.getFileName()), entry);
                }
            }
        }
    }

    private void publish(Path module, boolean jar) throws IOException {
        Path pom = module.resolve("pom.xml");
        String artifact = ownArtifact(Files.readString(pom));
        Path place = Files.createDirectories(
                repository.resolve(GROUP).resolve(artifact).resolve(VERSION));
        String name = artifact + "-" + VERSION;
        Files.copy(pom, place.resolve(name + ".pom"));
        if (jar) {
            Path file = module.resolve("target").resolve(name + ".jar");
            if (!Files.exists(file)) {
                abort(file + " is not built: ./sluice test, or mvn verify, makes all jars before this test");
            }
            Files.copy(file, place.resolve(name + ".jar"));
            Path tests = file.resolveSibling(name + "-tests.jar");
            if (Files.exists(tests)) {
                // what tests of other modules need
                Files.copy(tests, place.resolve(tests.getFileName()));
            }
        }
    }

    /** As the build has flattened it. */
    private void publishBom() throws IOException {
        Path flattened = ROOT.resolve("engine/bom/target/.flattened-pom.xml");
        if (!Files.exists(flattened)) {
            abort(flattened + " is not built: ./sluice test, or mvn verify, makes it before this test");
        }
        Path place = Files.createDirectories(
                repository.resolve(GROUP).resolve("sluice-bom").resolve(VERSION));
        Files.copy(flattened, place.resolve("sluice-bom-" + VERSION + ".pom"));
    }

    private static String ownArtifact(String pom) {
        String own = pom.replaceAll("(?s)<parent>.*?</parent>", "");
        int begin = own.indexOf("<artifactId>") + "<artifactId>".length();
        return own.substring(begin, own.indexOf("</artifactId>", begin));
    }

    private static Optional<String> element(Path pom, String name) {
        try {
            String text = Files.readString(pom);
            int begin = text.indexOf("<" + name + ">");
            return begin < 0
                    ? Optional.empty()
                    : Optional.of(text.substring(begin + name.length() + 2, text.indexOf("</" + name + ">", begin)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String pom(String artifact, String content) {
        return "<project><modelVersion>4.0.0</modelVersion><groupId>outside</groupId><artifactId>" + artifact
                + "</artifactId><version>1</version>" + content + "</project>";
    }

    /** The Maven that runs the tests, else the one on the path. */
    private static Path maven() {
        String home = System.getProperty("sluice.test.maven", "");
        Stream<Path> candidates = Stream.of(
                        Stream.of(home).filter(Predicate.not(String::isEmpty)).map(text -> Path.of(text, "bin")),
                        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                                .map(Path::of),
                        Stream.of(Path.of("/usr/share/maven/bin")))
                .flatMap(bins -> bins);
        return candidates
                .map(bin -> bin.resolve("mvn"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseGet(() -> abort("there is no Maven: install it, or use ./sluice test"));
    }
}
