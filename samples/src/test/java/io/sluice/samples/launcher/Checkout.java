package io.sluice.samples.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;

/**
 * A checkout with the real launcher, where the tools that it calls are stand-ins: Maven gives jars that were made
 * beforehand, and apt-get notes how it is called and brings the compiler that is missing.
 */
final class Checkout {
    private static final Path LAUNCHER = Path.of("../sluice");

    private final Path root;
    private final Path tools;
    private final Path product;

    /** In a folder; its last part may be any name. */
    Checkout(Path root, Path tools) throws IOException {
        this.root = Files.createDirectories(root);
        this.tools = Files.createDirectories(tools);
        this.product = Files.createDirectories(tools.resolve("product"));
        Files.copy(LAUNCHER, root.resolve("sluice"));
        Files.createDirectories(root.resolve("samples/src/main"));
        Files.writeString(root.resolve("pom.xml"), "<project/>");
        Files.writeString(root.resolve("samples/pom.xml"), "<project/>");
        tool("make", "");
        tool("compiler", "cat > /dev/null");
        tool("mvn", """
                mkdir -p "$CHECKOUT/samples/target/lib"
                cp "$PRODUCT/program.jar" "$CHECKOUT/samples/target/sluice-samples-1.jar"
                cp "$PRODUCT/late.jar" "$CHECKOUT/samples/target/lib/"
                """);
        tool("apt-get", """
                echo "$*" >> "$TOOLS/apt-get.log"
                if [ "$1" = install ]; then cp "$TOOLS/compiler" "$TOOLS/brought"; fi
                """);
    }

    private void tool(String name, String script) throws IOException {
        Path file = Files.writeString(tools.resolve(name), "#!/bin/sh\n" + script);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    /** Sets the program of the next build: it prints "started", waits for a line, and then needs a class of another jar. */
    void nextBuildSays(String word) throws IOException {
        Path sources = Files.createDirectories(product.resolve("sources"));
        Path main = Files.writeString(sources.resolve("Main.java"), """
                public class Main {
                    public static void main(String[] arguments) throws Exception {
                        System.out.println("started");
                        if (arguments.length > 1) {
                            System.out.println("there: " + java.nio.file.Files.exists(java.nio.file.Path.of(arguments[1])));
                        }
                        System.in.read();
                        System.out.println(Late.word());
                    }
                }
                """);
        Path late = Files.writeString(
                sources.resolve("Late.java"),
                "public class Late { public static String word() { return \"" + word + "\"; } }");
        Path classes = Files.createDirectories(product.resolve("classes"));
        call("javac", "-d", classes.toString(), main.toString(), late.toString());
        Path manifest = Files.writeString(product.resolve("manifest"), "Main-Class: Main\nClass-Path: lib/late.jar\n");
        jar("program.jar", "-m", manifest.toString(), "Main.class");
        jar("late.jar", "Late.class");
    }

    private void jar(String name, String... contents) {
        List<String> arguments =
                new ArrayList<>(List.of("-c", "-f", product.resolve(name).toString()));
        for (String content : contents) {
            if (content.endsWith(".class")) {
                arguments.addAll(List.of("-C", product.resolve("classes").toString()));
            }
            arguments.add(content);
        }
        call("jar", arguments.toArray(new String[0]));
    }

    private static void call(String tool, String... arguments) {
        StringWriter said = new StringWriter();
        int status =
                ToolProvider.findFirst(tool).orElseThrow().run(new PrintWriter(said), new PrintWriter(said), arguments);
        assertThat(status).as("%s: %s", tool, said).isZero();
    }

    /** As if a source had been edited. */
    void edit() throws IOException {
        Files.writeString(Files.createTempFile(root.resolve("samples/src/main"), "edited", ".java"), "");
    }

    /** The folders of builds that are kept. */
    long keptBuilds() throws IOException {
        try (var builds = Files.list(root.resolve("target/launcher/builds"))) {
            return builds.count();
        }
    }

    /** How apt-get has been called; empty if it has not. */
    List<String> callsOfAptGet() throws IOException {
        Path log = tools.resolve("apt-get.log");
        return Files.exists(log) ? Files.readAllLines(log) : List.of();
    }

    /** Starts {@code ./sluice}; a program of the tools' folder is in front of all others on the path. */
    Launched start(Map<String, String> environment) throws IOException {
        return start("command", environment);
    }

    /** As {@link #start(Map)}, with a command that the launcher may know. */
    Launched start(String command, Map<String, String> environment) throws IOException {
        return start(List.of("bash", root.resolve("sluice").toString(), command), environment);
    }

    /** Starts it with a terminal for input and output, but for what is redirected. */
    Launched startAtTerminal(String redirections, Map<String, String> environment) throws IOException {
        return startAtTerminal("command", redirections, environment);
    }

    /** As {@link #startAtTerminal(String, Map)}, with a command that the launcher may know. */
    Launched startAtTerminal(String command, String redirections, Map<String, String> environment) throws IOException {
        return startScript("bash ./sluice " + command + " " + redirections, environment);
    }

    /** Starts it with another session's terminal for input and output, which it cannot open as its own. */
    Launched startAtForeignTerminal(Map<String, String> environment) throws IOException {
        return startScript("setsid --wait bash ./sluice command", environment);
    }

    private Launched startScript(String command, Map<String, String> environment) throws IOException {
        return start(List.of("script", "--quiet", "--return", "--command", command, "/dev/null"), environment);
    }

    /** Starts it in a locale, with the name of a file that is there, and that is not ASCII. */
    Launched startWithFile(String locale) throws IOException {
        // the name comes from the shell, as this JVM may not be able to write it either
        String command = "unset LANG LC_CTYPE; name=$'\\303\\244'; : > \"$name\"; exec bash ./sluice command \"$name\"";
        return start(List.of("bash", "-c", command), Map.of("LC_ALL", locale));
    }

    /** Starts it where the C compiler is missing until apt-get brings it. */
    Map<String, String> withoutCompiler() {
        return Map.of("CC", tools.resolve("brought").toString());
    }

    private Launched start(List<String> command, Map<String, String> environment) throws IOException {
        Path output = Files.createTempFile(tools, "output", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(root.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        Map<String, String> all = builder.environment();
        all.keySet().removeIf(name -> name.startsWith("SLUICE_") || name.equals("CI"));
        all.put("SHELL", "/bin/sh");
        all.put("PATH", tools + ":" + all.get("PATH"));
        all.put("CC", tools.resolve("compiler").toString());
        all.put("SLUICE_JAVA_HOME", System.getProperty("java.home"));
        all.put("SLUICE_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
        all.put("CHECKOUT", root.toString());
        all.put("PRODUCT", product.toString());
        all.put("TOOLS", tools.toString());
        all.putAll(environment);
        return new Launched(builder.start(), output);
    }

    /** A launcher, and what it has become. */
    record Launched(Process process, Path output) implements AutoCloseable {
        String printed() {
            try {
                return Files.readString(output);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        void awaitPrinted(String text) {
            Patience.until("it prints " + text, () -> printed().contains(text));
        }

        void type(String line) throws IOException {
            process.getOutputStream().write((line + "\n").getBytes());
            process.getOutputStream().flush();
        }

        int awaitEnd() throws InterruptedException {
            assertThat(process.waitFor(Patience.BOUND.toSeconds(), TimeUnit.SECONDS))
                    .as("it ends; it has printed %s", printed())
                    .isTrue();
            return process.exitValue();
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
