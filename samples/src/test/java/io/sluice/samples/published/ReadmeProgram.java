package io.sluice.samples.published;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The first program of README.md, as a Maven project that imports the BOM; the dependencies are README's where it has some. */
final class ReadmeProgram {
    private static final Path README = Path.of("..", "README.md");
    private static final Pattern CLASS = Pattern.compile("(?:class|record|enum) (\\w+)");
    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
    private static final String BARE_CLASS = "Program";
    private static final String IMPORTS = """
            import io.sluice.engine.*;
            import io.sluice.reactor.*;
            import java.lang.foreign.*;
            import java.util.*;
            import reactor.core.publisher.*;
            """;

    private final String source;
    private final String dependencies;

    private ReadmeProgram(String source, String dependencies) {
        this.source = source;
        this.dependencies = dependencies;
    }

    static ReadmeProgram read() throws IOException {
        String readme = Files.readString(README);
        String source = block(readme, "java").orElseThrow(() -> new AssertionError(README + " has no block of Java"));
        if (!source.contains("void main(") && !CLASS.matcher(source).find()) {
            source = IMPORTS + "void main() throws Exception {\n" + source + "}\n";
        }
        return new ReadmeProgram(source, block(readme, "xml").orElse("""
                <dependency>
                  <groupId>io.sluice</groupId>
                  <artifactId>sluice-reactor</artifactId>
                </dependency>
                """));
    }

    private static Optional<String> block(String readme, String language) {
        return Pattern.compile("^```" + language + "\\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(readme)
                .results()
                .map((MatchResult block) -> block.group(1))
                .findFirst();
    }

    /** Writes the project into an empty folder. */
    void write(Path project, String version) throws IOException {
        String elements = dependencies;
        if (!elements.contains("<dependencies>")) {
            elements = "<dependencies>" + elements + "</dependencies>";
        }
        if (!elements.contains("<dependencyManagement>")) {
            elements += """
                    <dependencyManagement><dependencies><dependency>
                      <groupId>io.sluice</groupId><artifactId>sluice-bom</artifactId><version>%s</version>
                      <type>pom</type><scope>import</scope>
                    </dependency></dependencies></dependencyManagement>
                    """.formatted(version);
        }
        assertThat(elements).as("the dependencies import the BOM").contains("sluice-bom");
        Files.writeString(project.resolve("pom.xml"), """
                <project>
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>outside</groupId><artifactId>first-program</artifactId><version>1</version>
                  <properties>
                    <maven.compiler.release>25</maven.compiler.release>
                    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
                    <sluice.version>%s</sluice.version>
                  </properties>
                %s
                </project>
                """.formatted(version, elements));
        Path sources = Files.createDirectories(project.resolve("src/main/java"));
        Files.writeString(sources.resolve(simpleName() + ".java"), source);
    }

    private String simpleName() {
        // Without a class around it, a source file is one by its own name.
        boolean bare = source.lines().anyMatch(line -> line.startsWith("void main("));
        return bare
                ? BARE_CLASS
                : CLASS.matcher(source)
                        .results()
                        .map(found -> found.group(1))
                        .findFirst()
                        .orElse(BARE_CLASS);
    }

    /** The name of the class to run. */
    String mainClass() {
        return PACKAGE.matcher(source)
                .results()
                .map(found -> found.group(1) + "." + simpleName())
                .findFirst()
                .orElse(simpleName());
    }
}
