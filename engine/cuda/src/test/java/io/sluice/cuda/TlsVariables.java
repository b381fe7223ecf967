package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Map;

/** Settings of engines that trust each other, with a key of the JDK's tool that is also the trusted one. */
final class TlsVariables {
    private static final String PASSWORD = "the password of a store";
    private static final Map<String, String> ALL = make();

    private TlsVariables() {}

    static Map<String, String> all() {
        return ALL;
    }

    private static Map<String, String> make() {
        try {
            Path folder = Files.createTempDirectory("sluice-tls");
            Path file = folder.resolve("keys.p12");
            folder.toFile().deleteOnExit();
            file.toFile().deleteOnExit();
            Process tool = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "keytool")
                                    .toString(),
                            "-genkeypair",
                            "-alias",
                            "own",
                            "-keyalg",
                            "EC",
                            "-dname",
                            "CN=staged",
                            "-ext",
                            "SAN=ip:127.0.0.1",
                            "-validity",
                            "2",
                            "-storetype",
                            "PKCS12",
                            "-keystore",
                            file.toString(),
                            "-storepass",
                            PASSWORD)
                    .inheritIO()
                    .start();
            assertThat(Patience.exit(tool)).isZero();
            KeyStore store = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(file)) {
                store.load(in, PASSWORD.toCharArray());
            }
            store.setCertificateEntry("trusted", store.getCertificate("own"));
            try (OutputStream out = Files.newOutputStream(file)) {
                store.store(out, PASSWORD.toCharArray());
            }
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            return Map.of(
                    "SLUICE_TLS_KEYSTORE",
                    file.toString(),
                    "SLUICE_TLS_KEYSTORE_PASSWORD",
                    PASSWORD,
                    "SLUICE_TLS_DATA",
                    "true",
                    "SLUICE_LANES",
                    "2");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
