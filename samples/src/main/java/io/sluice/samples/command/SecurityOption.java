package io.sluice.samples.command;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options by which engines prove to each other who they are; each takes the place of a variable. */
final class SecurityOption {
    private static final String DATA = "--tls-data";

    @Option(names = "--token-file", paramLabel = "FILE")
    private @Nullable Path tokens;

    @Option(names = "--tls-cert", paramLabel = "FILE")
    private @Nullable Path certificates;

    @Option(names = "--tls-key", paramLabel = "FILE")
    private @Nullable Path key;

    @Option(names = "--tls-trust", paramLabel = "FILE")
    private @Nullable Path trusted;

    @Option(names = DATA)
    private boolean data;

    /** The variables, and what was given in the place of some. */
    Map<String, String> over(Map<String, String> variables) {
        Map<String, String> all = new HashMap<>(variables);
        if (tokens != null) {
            all.remove("SLUICE_TOKEN");
        }
        if (certificates != null) {
            all.remove("SLUICE_TLS_KEYSTORE");
        }
        given().forEach((option, value) ->
                all.put("SLUICE_" + option.substring(2).replace('-', '_').toUpperCase(Locale.ROOT), value));
        return all;
    }

    /** The same options for the command line of another process. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>();
        given().forEach((option, value) -> {
            arguments.add(option);
            if (!option.equals(DATA)) {
                arguments.add(value);
            }
        });
        return arguments;
    }

    private Map<String, String> given() {
        Map<String, String> given = new HashMap<>();
        put(given, "--token-file", tokens);
        put(given, "--tls-cert", certificates);
        put(given, "--tls-key", key);
        put(given, "--tls-trust", trusted);
        put(given, DATA, data ? "true" : null);
        return given;
    }

    private static void put(Map<String, String> given, String option, @Nullable Object value) {
        if (value != null) {
            given.put(option, value.toString());
        }
    }
}
