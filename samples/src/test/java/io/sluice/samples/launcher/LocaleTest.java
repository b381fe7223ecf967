package io.sluice.samples.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./sluice} in any locale, in a checkout that has been built and whose program is another. */
class LocaleTest {

    private static final Path LAUNCHER = Path.of("../sluice");

    @TempDir
    private Path folder;

    @Test
    void aFileWhoseNameIsNotAsciiIsFoundInAnyLocale() throws Exception {
        Path checkout = checkout();
        for (String locale : List.of("C", "POSIX", "C.UTF-8", "xx_XX.UTF-8", "")) {
            // the name comes from the shell, as this JVM may not be able to write it either
            assertThat(run(
                            "name=$1/$'\\303\\244' && : > \"$name\" && exec \"$2\" \"$name\"",
                            locale,
                            folder,
                            checkout.resolve("sluice")))
                    .as(locale)
                    .endsWith("there: true\n");
        }
    }

    /** Its stamp is newer than all that it has, so that nothing is built. */
    private Path checkout() throws IOException {
        Path checkout = Files.createDirectory(folder.toRealPath().resolve("checkout"));
        Files.copy(LAUNCHER, checkout.resolve("sluice"));
        assertThat(checkout.resolve("sluice").toFile().setExecutable(true)).isTrue();
        Files.createFile(checkout.resolve("pom.xml"));
        Path app = Files.createDirectories(checkout.resolve("target/launcher/app"));
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Program.class.getName());
        String classFile = Program.class.getName().replace('.', '/') + ".class";
        try (JarOutputStream jar =
                        new JarOutputStream(Files.newOutputStream(app.resolve("sluice-samples.jar")), manifest);
                InputStream compiled = Program.class.getClassLoader().getResourceAsStream(classFile)) {
            jar.putNextEntry(new JarEntry(classFile));
            Objects.requireNonNull(compiled).transferTo(jar);
        }
        Files.createFile(checkout.resolve("target/launcher/stamp"));
        return checkout;
    }

    /** Runs a script in a locale; returns its output on both streams. */
    private String run(String script, String locale, Path... arguments) throws IOException {
        Path said = Files.createTempFile(folder, "said", ".txt");
        List<String> command = new ArrayList<>(List.of("bash", "-c", script, "test"));
        for (Path argument : arguments) {
            command.add(argument.toString());
        }
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
        builder.environment().keySet().removeAll(List.of("LANG", "LC_CTYPE", "JAVA_TOOL_OPTIONS"));
        builder.environment().keySet().removeIf(name -> name.startsWith("SLUICE_"));
        builder.environment().put("LC_ALL", locale);
        builder.environment().put("SLUICE_JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("SLUICE_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1");
        Process process = builder.start();
        try {
            Patience.exit(process);
        } finally {
            process.destroyForcibly();
        }
        return Files.readString(said);
    }

    /** In the place of the program. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            System.out.println("there: " + Files.exists(Path.of(arguments[0])));
        }
    }
}
