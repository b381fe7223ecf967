package io.sluice.engine.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TlsOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PEM files as tools write them: a key and certificates together, in any order, with other text between. */
class PemFilesTest {
    private static final String BAG = "Bag Attributes\n    friendlyName: engine - own\nsubject=CN = engine\n\n";
    private static final String PARAMETERS =
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

    @TempDir
    private Path folder;

    private TlsFiles files;
    private String key;
    private String certificate;
    private String authority;

    @BeforeEach
    void makeCertificates() throws IOException {
        files = new TestAuthority(folder, "authority").issue("CN=engine,O=Example");
        key = files.keyText();
        certificate = Files.readString(files.certificate());
        authority = Files.readString(files.trusted());
    }

    @Test
    void oneFileForAll() throws IOException {
        for (String text : List.of(
                key + certificate + authority,
                certificate + key + authority,
                authority + BAG + certificate + "# the key\n" + PARAMETERS + key + "\n# that is all\n",
                authority + authority + certificate + certificate + authority + key,
                (certificate + authority + key).replace("\n", "\r\n"))) {
            Path all = write("all.pem", text);
            // The trusted ones are all certificates of their file, so that of the authority comes alone.
            assertConnects(TlsOptions.pem(all, all, files.trusted()));
        }
    }

    @Test
    void certificatesInTheFileOfTrustedOnesAmongOtherThings() throws IOException {
        assertConnects(TlsOptions.pem(files.certificate(), files.key(), write("trusted.pem", BAG + key + authority)));
    }

    @Test
    void theKeyAmongOthers() throws IOException {
        TlsFiles other = new TestAuthority(folder, "other").issue("CN=other");
        assertConnects(TlsOptions.pem(files.certificate(), write("keys.pem", other.keyText() + key), files.trusted()));
    }

    @Test
    void whatIsMissingOrDamagedIsNamed() throws IOException {
        Path onlyKey = write("only-key.pem", key);
        assertThatThrownBy(() -> open(TlsOptions.pem(onlyKey, onlyKey, files.trusted())))
                .isInstanceOf(SluiceException.class)
                .hasStackTraceContaining("only-key.pem holds a private key and no certificate");
        Path cut = write("cut.pem", certificate + key.substring(0, key.length() / 2));
        assertThatThrownBy(() -> open(TlsOptions.pem(cut, cut, files.trusted())))
                .isInstanceOf(SluiceException.class)
                .hasStackTraceContaining("cut.pem has a PRIVATE KEY without its end");
        Path cutChain = write("cut-chain.pem", key + certificate + authority.substring(0, authority.length() / 2));
        assertThatThrownBy(() -> open(TlsOptions.pem(cutChain, cutChain, files.trusted())))
                .isInstanceOf(SluiceException.class)
                .hasStackTraceContaining("cut-chain.pem has a CERTIFICATE without its end");
        Path password = write("password.pem", certificate + key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"));
        assertThatThrownBy(() -> open(TlsOptions.pem(password, password, files.trusted())))
                .isInstanceOf(SluiceException.class)
                .hasStackTraceContaining("openssl pkcs8 -topk8 -nocrypt");
    }

    private Path write(String name, String text) throws IOException {
        Path file = Files.writeString(folder.resolve(name), text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static TransferEngine open(TlsOptions tls) {
        return TransferEngine.open(
                PatientOptions.builder().tls(tls).transports(List.of("tcp")).build());
    }

    private static void assertConnects(TlsOptions tls) {
        TransferEngine engine = open(tls);
        try {
            Connection connection = Patience.await(engine.connect(engine.address()));
            assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
        } finally {
            engine.close();
        }
    }
}
