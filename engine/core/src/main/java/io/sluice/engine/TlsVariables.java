package io.sluice.engine;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads the settings of TLS from environment variables. */
final class TlsVariables {
    static final String PASSWORD = "SLUICE_TLS_KEYSTORE_PASSWORD";

    private static final String CERTIFICATES = "SLUICE_TLS_CERT";
    private static final String KEY = "SLUICE_TLS_KEY";
    private static final String TRUST = "SLUICE_TLS_TRUST";
    private static final String STORE = "SLUICE_TLS_KEYSTORE";
    private static final String DATA = "SLUICE_TLS_DATA";
    private static final String VERIFY_HOST = "SLUICE_TLS_VERIFY_HOST";

    private TlsVariables() {}

    /**
     * Passes the options that the variables describe to the setter, if any is set.
     *
     * @param before the earlier options, to which the flags apply if there are no files
     */
    static void read(Environment from, @Nullable TlsOptions before, Consumer<TlsOptions> setter) {
        TlsOptions options = from.has(STORE) ? keyStore(from) : pem(from);
        if (options == null) {
            options = before;
        }
        if (options == null) {
            for (String flag : List.of(DATA, VERIFY_HOST)) {
                from.flag(flag, set -> {
                    if (flag.equals(DATA) == set) {
                        throw new IllegalArgumentException("there is no TLS: " + CERTIFICATES + " is not set");
                    }
                });
            }
            return;
        }
        List<TlsOptions> changed = new ArrayList<>(List.of(options));
        from.flag(DATA, protect -> changed.add(changed.getLast().data(protect)));
        from.flag(VERIFY_HOST, verify -> changed.add(changed.getLast().verifyHost(verify)));
        if (!changed.getLast().equals(before)) {
            setter.accept(changed.getLast());
        }
    }

    private static @Nullable TlsOptions pem(Environment from) {
        if (!from.has(CERTIFICATES) && !from.has(KEY) && !from.has(TRUST)) {
            return null;
        }
        return TlsOptions.pem(path(from, CERTIFICATES), path(from, KEY), path(from, TRUST));
    }

    private static TlsOptions keyStore(Environment from) {
        if (from.has(CERTIFICATES) || from.has(KEY) || from.has(TRUST)) {
            throw new IllegalArgumentException("environment variable " + STORE + ": it excludes " + CERTIFICATES + ", "
                    + KEY + " and " + TRUST + "; unset it or these");
        }
        List<String> password = new ArrayList<>();
        from.secret(PASSWORD, bytes -> password.add(new String(bytes, StandardCharsets.UTF_8)));
        return TlsOptions.keyStore(
                path(from, STORE),
                password.isEmpty() ? new char[0] : password.getFirst().toCharArray());
    }

    private static Path path(Environment from, String name) {
        List<Path> found = new ArrayList<>();
        from.text(name, value -> found.add(Path.of(value)));
        if (found.isEmpty()) {
            throw new IllegalArgumentException(
                    "environment variable " + name + ": it is not set, but other TLS variables are; set it, too");
        }
        return found.getFirst();
    }
}
