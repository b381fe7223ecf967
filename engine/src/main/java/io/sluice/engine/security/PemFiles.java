package io.sluice.engine.security;

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

/** Certificates and keys in PEM. */
final class PemFiles {
    private static final int MAX_BYTES = 1 << 20;
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";

    private PemFiles() {}

    static List<X509Certificate> certificates(Path path) throws IOException, GeneralSecurityException {
        byte[] text = TextFile.unmarked(SecretFile.bounded(path, MAX_BYTES), path);
        List<X509Certificate> found = new ArrayList<>();
        try {
            for (Certificate each :
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(text))) {
                found.add((X509Certificate) each);
            }
        } catch (CertificateException e) {
            throw new IOException(path + " does not hold certificates in PEM", e);
        }
        if (found.isEmpty()) {
            throw new IOException(path + " holds no certificate");
        }
        return found;
    }

    /** The key of a certificate; that it is the right one is checked. */
    static PrivateKey key(Path path, PublicKey of) throws IOException, GeneralSecurityException {
        String text = new String(
                TextFile.unmarked(SecretFile.read(path, MAX_BYTES), path), StandardCharsets.US_ASCII);
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IOException(path + " holds no private key in PKCS#8 without a password; make it one by"
                    + " 'openssl pkcs8 -topk8 -nocrypt'");
        }
        PrivateKey key;
        try {
            byte[] encoded = Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end));
            key = KeyFactory.getInstance(of.getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(encoded));
        } catch (IllegalArgumentException | InvalidKeySpecException e) {
            // without the cause, which could quote what it has read
            throw new IOException(path + " does not hold a private key for a certificate of " + of.getAlgorithm());
        }
        if (!belongTogether(key, of)) {
            throw new IOException(path + " is the key of another certificate");
        }
        return key;
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
