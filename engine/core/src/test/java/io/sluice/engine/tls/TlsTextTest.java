package io.sluice.engine.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.security.TlsContexts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** PEM as editors of all systems save it. */
class TlsTextTest {

    @TempDir
    private Path folder;

    private TlsFiles files;

    @BeforeEach
    void makeCertificates() {
        files = new TestAuthority(folder, "authority").issue("CN=target,O=Example");
    }

    @Test
    void aByteOrderMarkAndLineEndsOfWindowsAreNoObstacle() throws Exception {
        for (Path file : new Path[] {files.certificate(), files.key(), files.trusted()}) {
            Files.writeString(file, "\uFEFF" + Files.readString(file).strip().replace("\n", "\r\n"));
        }
        assertThat(TlsContexts.ofPem(files.certificate(), files.key(), files.trusted()))
                .isNotNull();
    }

    @Test
    void utf16IsNamed() throws IOException {
        for (Path file : new Path[] {files.trusted(), files.key(), files.certificate()}) {
            Files.write(file, Files.readString(file).getBytes(StandardCharsets.UTF_16));
            assertThatThrownBy(() -> TlsContexts.ofPem(files.certificate(), files.key(), files.trusted()))
                    .isInstanceOf(IOException.class)
                    .hasMessage(file + " begins with the byte-order mark of UTF-16 or UTF-32; save it as UTF-8");
        }
    }
}
