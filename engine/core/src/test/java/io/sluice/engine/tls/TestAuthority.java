package io.sluice.engine.tls;

import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.style.RFC4519Style;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** An authority that is made for one test, and issues certificates into PEM files. Nothing of it is kept. */
public final class TestAuthority {
    private static final Duration VALID = Duration.ofDays(1);

    private final Path folder;
    private final X500Name name;
    private final KeyPair keys = keys("EC");
    private final X509Certificate certificate;

    public TestAuthority(Path folder, String commonName) {
        this.folder = folder;
        this.name = new X500Name(RFC4519Style.INSTANCE, "CN=" + commonName);
        Instant now = Instant.now();
        certificate = sign(name, keys, now.minus(VALID), now.plus(VALID), List.of(), true);
    }

    /** The subject of a certificate, and its validity. */
    public record Request(String subject, List<GeneralName> names, Instant from, Instant to, String algorithm) {
        /** For a process of this host. */
        public static Request local(String subject) {
            Instant now = Instant.now();
            return new Request(
                    subject,
                    List.of(
                            new GeneralName(GeneralName.iPAddress, "127.0.0.1"),
                            new GeneralName(GeneralName.iPAddress, "::1"),
                            new GeneralName(GeneralName.dNSName, "localhost")),
                    now.minus(VALID),
                    now.plus(VALID),
                    "EC");
        }

        public Request host(String host) {
            return new Request(subject, List.of(new GeneralName(GeneralName.dNSName, host)), from, to, algorithm);
        }

        public Request expired() {
            return new Request(subject, names, from, Instant.now().minusSeconds(60), algorithm);
        }

        public Request key(String keyAlgorithm) {
            return new Request(subject, names, from, to, keyAlgorithm);
        }
    }

    public X509Certificate certificate() {
        return certificate;
    }

    /** A certificate for a process of this host, and this authority as the trusted one. */
    public TlsFiles issue(String subject) {
        return issue(Request.local(subject));
    }

    public TlsFiles issue(Request request) {
        KeyPair own = keys(request.algorithm());
        X509Certificate issued = sign(
                new X500Name(RFC4519Style.INSTANCE, request.subject()),
                own,
                request.from(),
                request.to(),
                request.names(),
                false);
        try {
            Path mine = Files.createTempDirectory(folder, "tls");
            TlsFiles files =
                    new TlsFiles(mine.resolve("certificate.pem"), mine.resolve("key.pem"), mine.resolve("trusted.pem"));
            write(files.certificate(), issued);
            write(files.trusted(), certificate);
            writeKey(files.key(), own.getPrivate());
            writeStore(files.store(), own.getPrivate(), issued);
            return files;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private void writeStore(Path file, PrivateKey key, X509Certificate issued)
            throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("own", key, TlsFiles.PASSWORD.toCharArray(), new X509Certificate[] {issued});
        store.setCertificateEntry("trusted", certificate);
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, TlsFiles.PASSWORD.toCharArray());
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    }

    private X509Certificate sign(
            X500Name subject, KeyPair own, Instant from, Instant to, List<GeneralName> names, boolean authority) {
        try {
            X509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                    name,
                    new BigInteger(64, new SecureRandom()),
                    Date.from(from),
                    Date.from(to),
                    subject,
                    own.getPublic());
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(authority));
            if (!names.isEmpty()) {
                builder.addExtension(
                        Extension.subjectAlternativeName, false, new GeneralNames(names.toArray(GeneralName[]::new)));
            }
            return new JcaX509CertificateConverter()
                    .getCertificate(
                            builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException | OperatorCreationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static KeyPair keys(String algorithm) {
        try {
            return KeyPairGenerator.getInstance(algorithm).generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Writes these, in the place of what stood there in one step. */
    static void write(Path file, X509Certificate... certificates) throws IOException {
        replace(file, pem((Object[]) certificates), "rw-r--r--");
    }

    private static void writeKey(Path file, PrivateKey key) throws IOException {
        replace(file, pem(new JcaPKCS8Generator(key, null)), "rw-------");
    }

    static void replace(Path file, String text, String permissions) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        Files.writeString(next, text);
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString(permissions));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static String pem(Object... objects) throws IOException {
        StringWriter text = new StringWriter();
        try (JcaPEMWriter writer = new JcaPEMWriter(text)) {
            for (Object object : objects) {
                writer.writeObject(object);
            }
        }
        return text.toString();
    }
}
