package io.sluice.engine.security;

import io.sluice.jni.TextFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Certificates and keys in PEM. A file may hold both, in any order and with other text between, as many tools write them: what
 * is not asked for is passed over.
 */
final class PemFiles {
    private static final int MAX_BYTES = 1 << 20;
    private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([^\\r\\n-]+)-----([^-]*)-----END \\1-----");
    private static final List<String> CERTIFICATE = List.of("CERTIFICATE", "X509 CERTIFICATE");
    private static final List<String> KEY = List.of("PRIVATE KEY");
    // In other forms, or with a password; also in one that this does not know.
    private static final String ANY_KEY = "PRIVATE KEY-----";
    private static final String BEGIN = "-----BEGIN ";

    private PemFiles() {}

    static List<X509Certificate> certificates(Path path) throws IOException, GeneralSecurityException {
        byte[] text = TextFile.unmarked(SecretFile.bounded(path, MAX_BYTES), path.toString());
        List<byte[]> blocks = blocks(path, new String(text, StandardCharsets.ISO_8859_1), CERTIFICATE);
        if (blocks.isEmpty() && new String(text, StandardCharsets.ISO_8859_1).contains(ANY_KEY)) {
            throw new IOException(path + " holds a private key and no certificate");
        }
        if (blocks.isEmpty()) {
            // The other forms that the JDK reads.
            blocks = List.of(text);
        }
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        List<X509Certificate> found = new ArrayList<>();
        try {
            for (byte[] block : blocks) {
                for (Certificate each : factory.generateCertificates(new ByteArrayInputStream(block))) {
                    found.add((X509Certificate) each);
                }
            }
        } catch (CertificateException e) {
            throw new IOException(path + " does not hold certificates in PEM", e);
        }
        if (found.isEmpty()) {
            throw new IOException(path + " holds no certificate");
        }
        return found;
    }

    /** A private key, its own certificate, and those that lead from it to an authority. */
    record KeyAndChain(PrivateKey key, X509Certificate[] chain) {}

    /** The key of one of these certificates, with that one in front and those that have issued it behind. */
    static KeyAndChain keyAndChain(Path path, List<X509Certificate> certificates)
            throws IOException, GeneralSecurityException {
        byte[] bytes = TextFile.unmarked(SecretFile.read(path, MAX_BYTES), path.toString());
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        List<byte[]> encoded = blocks(path, text, KEY);
        if (encoded.isEmpty()) {
            throw new IOException(
                    path + " holds no private key in PKCS#8 without a password; convert it with 'openssl pkcs8"
                            + " -topk8 -nocrypt'");
        }
        boolean readable = false;
        for (X509Certificate certificate : certificates) {
            PublicKey of = certificate.getPublicKey();
            for (byte[] each : encoded) {
                PrivateKey key;
                try {
                    key = KeyFactory.getInstance(of.getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(each));
                } catch (InvalidKeySpecException e) {
                    // It is of another kind of certificate.
                    continue;
                }
                readable = true;
                if (belongTogether(key, of)) {
                    return new KeyAndChain(key, chain(certificate, certificates));
                }
            }
        }
        // Without a cause, which could quote the file's contents.
        throw new IOException(
                readable
                        ? path + " is the key of another certificate"
                        : path + " does not hold a private key for a certificate of "
                                + certificates.getFirst().getPublicKey().getAlgorithm());
    }

    private static X509Certificate[] chain(X509Certificate own, List<X509Certificate> certificates) {
        List<X509Certificate> rest = new ArrayList<>(certificates);
        List<X509Certificate> chain = new ArrayList<>();
        Optional<X509Certificate> next = Optional.of(own);
        while (next.isPresent()) {
            X509Certificate last = next.get();
            chain.add(last);
            rest.removeIf(last::equals);
            next = rest.stream()
                    .filter(each -> each.getSubjectX500Principal().equals(last.getIssuerX500Principal()))
                    .findFirst();
        }
        return chain.toArray(X509Certificate[]::new);
    }

    private static List<byte[]> blocks(Path path, String text, List<String> labels) throws IOException {
        List<byte[]> found = new ArrayList<>();
        Matcher block = BLOCK.matcher(text);
        while (block.find()) {
            if (labels.contains(block.group(1))) {
                try {
                    found.add(Base64.getMimeDecoder().decode(block.group(2)));
                } catch (IllegalArgumentException e) {
                    // Without the cause, as above.
                    throw new IOException(path + " has a " + block.group(1) + " that is not in Base64");
                }
            }
        }
        int begun = 0;
        for (String label : labels) {
            begun += text.split(Pattern.quote(BEGIN + label + "-----"), -1).length - 1;
        }
        if (begun != found.size()) {
            throw new IOException(path + " has a " + labels.getFirst() + " without its end: it is cut off or damaged");
        }
        return found;
    }

    private static boolean belongTogether(PrivateKey key, PublicKey of) throws GeneralSecurityException {
        String algorithm = switch (of.getAlgorithm()) {
            case "RSA", "RSASSA-PSS" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> of.getAlgorithm();
        };
        byte[] anything = "sluice".getBytes(StandardCharsets.US_ASCII);
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(key);
        signature.update(anything);
        byte[] signed = signature.sign();
        signature.initVerify(of);
        signature.update(anything);
        return signature.verify(signed);
    }
}
