package io.sluice.samples.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** How the two engines authenticate, and what of their connection is encrypted. */
enum Security {
    OFF(""),
    TOKEN("token"),
    TLS("TLS"),
    TLS_DATA("TLS with its data");

    private static final String PASSWORD = "measured";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String description;

    Security(String description) {
        this.description = description;
    }

    String description() {
        return description;
    }

    /** The variables of both engines. */
    Map<String, String> environment(Path folder) throws MeasurementFailedException {
        return switch (this) {
            case OFF -> Map.of();
            case TOKEN -> Map.of("SLUICE_TOKEN", "no secret, but long enough for one");
            case TLS -> tls(folder, "false");
            case TLS_DATA -> tls(folder, "true");
        };
    }

    /** With a key store of a key and its certificate, which is also the trusted one, made once in a folder by the JDK's keytool. */
    private static Map<String, String> tls(Path folder, String data) throws MeasurementFailedException {
        Path store = folder.resolve("keys.p12");
        if (!Files.exists(store)) {
            makeKeyStore(folder, store);
        }
        return Map.of(
                "SLUICE_TLS_KEYSTORE", store.toString(),
                "SLUICE_TLS_KEYSTORE_PASSWORD", PASSWORD,
                "SLUICE_TLS_DATA", data);
    }

    private static void makeKeyStore(Path folder, Path file) throws MeasurementFailedException {
        String store = folder.resolve("keys.p12.new").toString();
        String certificate = folder.resolve("certificate.pem").toString();
        String key = "-genkeypair -alias own -keyalg EC -dname CN=compare -ext SAN=ip:127.0.0.1 -validity 2";
        keytool(folder, store, key.split(" "));
        keytool(folder, store, "-exportcert", "-alias", "own", "-rfc", "-file", certificate);
        keytool(folder, store, "-importcert", "-noprompt", "-alias", "trusted", "-file", certificate);
        try {
            Files.setPosixFilePermissions(Path.of(store), PosixFilePermissions.fromString("rw-------"));
            Files.move(Path.of(store), file);
        } catch (IOException e) {
            throw new MeasurementFailedException("the key store cannot be put in place: " + e.getMessage());
        }
    }

    private static void keytool(Path folder, String store, String... arguments) throws MeasurementFailedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(arguments));
        command.addAll(List.of("-keystore", store, "-storetype", "PKCS12", "-storepass", PASSWORD));
        try (ToolProcess keytool = ToolProcess.start(folder, Map.of(), PATIENCE, command)) {
            keytool.await(PATIENCE, () -> false);
        }
    }
}
