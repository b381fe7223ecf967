package io.sluice.site;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A module whose artifact others depend on: one that the BOM names.
 *
 * @param artifact what Maven calls it
 * @param folder where it lies, with its {@code pom.xml}
 */
record PublishedModule(String artifact, Path folder) {
    private static final Path BOM = Path.of("engine", "bom", "pom.xml");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(sluice-[a-z-]+)</artifactId>");
    private static final Pattern PARENT = Pattern.compile("<parent>.*?</parent>", Pattern.DOTALL);
    private static final Pattern EXPORTED = Pattern.compile("^\\s*exports ([\\w.]+);", Pattern.MULTILINE);
    private static final int DEEPEST_POM = 3;

    /** The modules that the BOM names, in its order. */
    static List<PublishedModule> all(Path root) throws IOException {
        Map<String, Path> folders;
        try (Stream<Path> files = Files.find(root, DEEPEST_POM, (file, attributes) -> file.endsWith("pom.xml"))) {
            folders = files.collect(Collectors.toMap(pom -> artifacts(pom).getFirst(), Path::getParent));
        }
        List<String> published = artifacts(root.resolve(BOM));
        return published.subList(1, published.size()).stream()
                .map(artifact -> new PublishedModule(artifact, found(artifact, folders)))
                .toList();
    }

    private static Path found(String artifact, Map<String, Path> folders) {
        Path folder = folders.get(artifact);
        if (folder == null) {
            throw new IllegalStateException(BOM + " names " + artifact + ", and no module is called so");
        }
        return folder;
    }

    /** The artifacts that a pom names apart from its parent, its own first. */
    private static List<String> artifacts(Path pom) {
        String own = PARENT.matcher(read(pom)).replaceFirst("");
        return names(ARTIFACT, own).toList();
    }

    private static Stream<String> names(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(result -> result.group(1));
    }

    /** The names of its public packages: those that its descriptor exports to all, or else all but internal ones. */
    List<String> packages() throws IOException {
        Path descriptor = sources().resolve("module-info.java");
        if (Files.exists(descriptor)) {
            return names(EXPORTED, read(descriptor)).toList();
        }
        try (Stream<Path> files = Files.walk(sources())) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .map(file ->
                            sources().relativize(file.getParent()).toString().replace('/', '.'))
                    .filter(name -> !name.contains("internal"))
                    .distinct()
                    .sorted()
                    .toList();
        }
    }

    /** The source files of a package. */
    List<Path> sources(String packageName) throws IOException {
        try (Stream<Path> files = Files.list(sources().resolve(packageName.replace('.', '/')))) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path sources() {
        return folder.resolve("src/main/java");
    }

    /** Its compiled classes, and what Maven says they are compiled against. */
    List<String> classPath() {
        List<String> entries = new ArrayList<>();
        entries.add(folder.resolve("target/classes").toString());
        entries.addAll(
                List.of(read(folder.resolve("target/docs-class-path")).strip().split(File.pathSeparator)));
        return entries;
    }
}
