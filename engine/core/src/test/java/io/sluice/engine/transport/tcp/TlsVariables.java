package io.sluice.engine.transport.tcp;

import io.sluice.engine.tls.TestAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/** Settings of engines that trust each other, for all tests of this process. */
final class TlsVariables {
    private static final Map<String, String> FILES = make();

    private TlsVariables() {}

    private static Map<String, String> make() {
        try {
            Path folder = Files.createTempDirectory("sluice-tls");
            Map<String, String> files =
                    new TestAuthority(folder, "contract").issue("CN=contract").environment();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
            return files;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Map<String, String> with(String... more) {
        Map<String, String> all = new HashMap<>(FILES);
        for (int i = 0; i < more.length; i += 2) {
            all.put(more[i], more[i + 1]);
        }
        return all;
    }
}
