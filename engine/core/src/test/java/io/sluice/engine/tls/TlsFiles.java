package io.sluice.engine.tls;

import io.sluice.engine.TlsOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.Map;

/** An engine's certificate and key, and whom it trusts, in PEM. */
public record TlsFiles(Path certificate, Path key, Path trusted) {
    public static final String PASSWORD = "the password of a store";

    /** All of it in one PKCS#12 store. */
    public Path store() {
        return key.resolveSibling("store.p12");
    }

    public TlsOptions options() {
        return TlsOptions.pem(certificate, key, trusted);
    }

    public Map<String, String> environment() {
        return Map.of(
                "SLUICE_TLS_CERT", certificate.toString(),
                "SLUICE_TLS_KEY", key.toString(),
                "SLUICE_TLS_TRUST", trusted.toString());
    }

    /** Trusts these authorities from now on. */
    public TlsFiles trust(TestAuthority... authorities) {
        X509Certificate[] anchors = new X509Certificate[authorities.length];
        for (int i = 0; i < anchors.length; i++) {
            anchors[i] = authorities[i].certificate();
        }
        try {
            TestAuthority.write(trusted, anchors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Puts another certificate and its key in the place of these. */
    public void become(TlsFiles other) {
        try {
            TestAuthority.replace(key, Files.readString(other.key), "rw-------");
            TestAuthority.replace(certificate, Files.readString(other.certificate), "rw-r--r--");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String keyText() {
        try {
            return Files.readString(key);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
