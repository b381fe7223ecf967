package io.sluice.samples.compare;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** The machine's UCX, as the Java binding needs it. */
final class UcxLibrary {
    static final String NAME = "libucp.so.0";

    private static final List<String> FOLDERS =
            List.of("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib");

    private UcxLibrary() {}

    /** Whether it is where programs look for it; of the binding there is a library for one architecture alone. */
    static boolean isPresent() {
        if (!System.getProperty("os.arch").equals("amd64")) {
            return false;
        }
        List<String> folders = new ArrayList<>(FOLDERS);
        String named = System.getenv("LD_LIBRARY_PATH");
        if (named != null) {
            folders.addAll(List.of(named.split(":", -1)));
        }
        return folders.stream().anyMatch(folder -> Files.exists(Path.of(folder, NAME)));
    }

    static String bindingVersion() {
        Properties properties = new Properties();
        try (InputStream in = UcxLibrary.class.getResourceAsStream("/META-INF/maven/org.openucx/jucx/pom.properties")) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException e) {
            return "unknown: " + e.getMessage();
        }
        return "jucx " + properties.getProperty("version", "of an unknown version");
    }
}
