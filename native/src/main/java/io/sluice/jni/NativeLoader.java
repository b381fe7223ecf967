package io.sluice.jni;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds, loads and checks the native library. Takes its environment as parameters, so that tests can simulate other
 * machines. Each instance loads once.
 */
final class NativeLoader {
    static final String PATH_PROPERTY = "sluice.native.path";

    /** A location to load the library from. */
    private interface Source {
        void load() throws IOException;
    }

    private static final class WrongVersion extends RuntimeException {
        private static final long serialVersionUID = 1;

        WrongVersion(String message) {
            super(message);
        }
    }

    private final Function<String, @Nullable String> properties;
    private final Linker linker;
    private final List<Throwable> failures = new ArrayList<>();

    NativeLoader(Function<String, @Nullable String> properties, Linker linker) {
        this.properties = properties;
        this.linker = linker;
    }

    static NativeLoader forThisMachine() {
        return new NativeLoader(System::getProperty, new Linker.System());
    }

    LoadOutcome load() {
        String architecture = canonicalArchitecture(property("os.arch"));
        if (!property("os.name").equals("Linux") || architecture.isEmpty()) {
            return unavailable("Sluice runs on Linux on x86_64 and aarch64.");
        }
        String explicit = property(PATH_PROPERTY);
        try {
            return explicit.isEmpty() ? search("linux-" + architecture) : loadExactly(explicit);
        } catch (WrongVersion e) {
            // The JVM has bound the native methods to that library and would not use one loaded later.
            failures.add(e);
            return unavailable("Remove that library, or replace it with the one of this version.");
        } catch (IllegalCallerException e) {
            // refused for any library
            failures.add(new IOException("the JVM refuses native code: " + e.getMessage(), e));
            Module module = NativeLoader.class.getModule();
            return unavailable("Start java with --enable-native-access="
                    + (module.isNamed() ? module.getName() : "ALL-UNNAMED") + ".");
        }
    }

    private LoadOutcome loadExactly(String file) {
        String origin = "-D" + PATH_PROPERTY + "=" + file;
        // A configured file is the only candidate: loading another one would hide the mistake.
        if (loads(origin, () -> linker.load(Path.of(file).toAbsolutePath().toString()))) {
            return LoadOutcome.loaded(origin);
        }
        return unavailable("Set -D" + PATH_PROPERTY + " to this version's libsluice.so for this machine, or leave it"
                + " out to use the one in the jar.");
    }

    private LoadOutcome search(String platform) {
        String path = "java.library.path=" + property("java.library.path");
        if (loads(path, () -> linker.loadLibrary("sluice"))) {
            return LoadOutcome.loaded(path);
        }
        JarLibrary inJar = new JarLibrary(platform, temporaryFolder());
        if (loads(inJar.toString(), () -> inJar.load(linker))) {
            return LoadOutcome.loaded(inJar.toString());
        }
        return unavailable("Set -D" + JarLibrary.FOLDER_PROPERTY + " to a writable folder that is not mounted noexec,"
                + " or set -D" + PATH_PROPERTY + " to a libsluice.so.");
    }

    private boolean loads(String origin, Source source) {
        try {
            source.load();
        } catch (IllegalCallerException e) {
            throw e;
        } catch (IOException | RuntimeException | LinkageError e) {
            failures.add(new IOException(origin + ": " + reason(e), e));
            return false;
        }
        return isOurs(origin);
    }

    private boolean isOurs(String origin) {
        int found;
        try {
            found = linker.abiVersion();
        } catch (LinkageError e) {
            failures.add(new IOException(origin + ": the loaded library is not Sluice's", e));
            return false;
        }
        if (found != Shim.ABI_VERSION) {
            throw new WrongVersion(
                    origin + ": the library has interface version " + found + ", not " + Shim.ABI_VERSION);
        }
        return true;
    }

    private LoadOutcome unavailable(String advice) {
        StringBuilder message = new StringBuilder("Sluice's native library is not available on ")
                .append(property("os.name"))
                .append(' ')
                .append(property("os.arch"))
                .append('.');
        for (Throwable failure : failures) {
            message.append(" Tried ").append(failure.getMessage()).append('.');
        }
        Throwable cause =
                new UnsatisfiedLinkError(message.append(' ').append(advice).toString());
        failures.forEach(cause::addSuppressed);
        return LoadOutcome.failed(cause);
    }

    private Path temporaryFolder() {
        String named = property(JarLibrary.FOLDER_PROPERTY);
        return Path.of(named.isEmpty() ? property("java.io.tmpdir") : named);
    }

    private String property(String name) {
        String value = properties.apply(name);
        return value == null ? "" : value;
    }

    private static String reason(Throwable e) {
        String message = e.getMessage();
        return e instanceof LinkageError && message != null ? message : e.toString();
    }

    /** The name of the architecture's folder in the jar; empty if unsupported. */
    private static String canonicalArchitecture(String osArch) {
        return switch (osArch) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64", "arm64" -> "aarch64";
            default -> "";
        };
    }
}
