package io.sluice.site;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.spi.ToolProvider;

/** The Javadoc of the public packages of all published modules, as one tree of pages. */
final class ApiPages {
    /** Its path in the site. */
    static final Path FOLDER = Path.of("api");

    // Its public methods are tests, whose names say what they test.
    private static final String UNCHECKED = "io.sluice.engine.contract";

    private final List<PublishedModule> modules;
    private final List<String> types = new ArrayList<>();

    private ApiPages(List<PublishedModule> modules) {
        this.modules = modules;
    }

    static ApiPages of(List<PublishedModule> modules) {
        return new ApiPages(modules);
    }

    /** Runs the javadoc tool of this JDK; its messages go to standard error. Whether it had no warning and no error. */
    boolean write(Path folder) throws IOException {
        List<String> options = new ArrayList<>(List.of(
                "-quiet",
                "-Werror",
                "-Xdoclint:all",
                "-Xdoclint/package:-" + UNCHECKED,
                "-encoding",
                "UTF-8",
                "-windowtitle",
                "Sluice API",
                "-doctitle",
                "Sluice API",
                "-header",
                "<a href=\"{@docRoot}/../" + Page.INDEX + "\">Pages</a>",
                "-d",
                folder.toString()));
        // On the class path, without descriptors: not every artifact is a module, and javadoc takes no mixture.
        Set<String> classPath = new LinkedHashSet<>();
        List<String> sources = new ArrayList<>();
        for (PublishedModule module : modules) {
            classPath.addAll(module.classPath());
            List<String> packages = module.packages();
            options.addAll(List.of("-group", module.artifact(), String.join(":", packages)));
            for (String each : packages) {
                module.sources(each).forEach(source -> sources.add(source.toString()));
            }
        }
        options.addAll(List.of("-classpath", String.join(File.pathSeparator, classPath)));
        options.addAll(sources);
        PrintWriter messages = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int status = ToolProvider.findFirst("javadoc")
                .orElseThrow(() -> new IllegalStateException("this Java has no javadoc: run it on a JDK"))
                .run(messages, messages, options.toArray(new String[0]));
        if (status == 0) {
            findTypes(folder, sources);
        }
        return status == 0;
    }

    private void findTypes(Path folder, List<String> sources) {
        for (String source : sources) {
            String path = source.substring(source.indexOf("/src/main/java/") + "/src/main/java/".length());
            String page = path.substring(0, path.length() - ".java".length()) + ".html";
            if (Files.exists(folder.resolve(page))) {
                types.add(page);
            }
        }
    }

    /** The pages of the public top-level types, as paths below this folder. */
    List<String> types() {
        return types;
    }
}
