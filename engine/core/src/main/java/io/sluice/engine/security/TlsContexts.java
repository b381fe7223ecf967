package io.sluice.engine.security;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collections;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Makes TLS contexts of files. */
public final class TlsContexts {
    private static final int MAX_STORE_BYTES = 4 << 20;
    private static final char[] IN_MEMORY = {};
    // a session is not resumed later than this, so that a certificate that was rotated out does not live on in tickets
    private static final int SESSION_SECONDS = 1;

    private TlsContexts() {}

    /**
     * Of PEM files.
     *
     * @param certificates the chain, in any order
     * @param key of one of them; it may be the same file
     * @param trusted whose certificates are trusted
     * @return the context
     * @throws IOException if a file cannot be used
     * @throws GeneralSecurityException if its contents are unusable
     */
    public static SSLContext ofPem(Path certificates, Path key, Path trusted)
            throws IOException, GeneralSecurityException {
        PemFiles.KeyAndChain ours = PemFiles.keyAndChain(key, PemFiles.certificates(certificates));
        KeyStore own = empty();
        own.setKeyEntry("own", ours.key(), IN_MEMORY, ours.chain());
        KeyStore trust = empty();
        int number = 0;
        for (X509Certificate anchor : PemFiles.certificates(trusted)) {
            trust.setCertificateEntry("anchor-" + number++, anchor);
        }
        return context(own, IN_MEMORY, trust);
    }

    /**
     * Of a PKCS#12 key store: its key, and its trusted certificates.
     *
     * @param path of the store
     * @param password of the store and the key
     * @return the context
     * @throws IOException if the file cannot be used
     * @throws GeneralSecurityException if its contents are unusable
     */
    public static SSLContext ofKeyStore(Path path, char[] password) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(new ByteArrayInputStream(SecretFile.read(path, MAX_STORE_BYTES)), password);
        KeyStore trust = empty();
        boolean hasKey = false;
        for (String alias : Collections.list(store.aliases())) {
            if (store.isCertificateEntry(alias)) {
                trust.setCertificateEntry(alias, store.getCertificate(alias));
            }
            hasKey |= store.isKeyEntry(alias);
        }
        if (!hasKey || trust.size() == 0) {
            throw new IOException(path + " lacks " + (hasKey ? "a trusted certificate" : "a private key"));
        }
        return context(store, password, trust);
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static SSLContext context(KeyStore own, char[] password, KeyStore trust) throws GeneralSecurityException {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        char[] copy = password.clone();
        keys.init(own, copy);
        Arrays.fill(copy, ' ');
        TrustManagerFactory anchors = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        anchors.init(trust);
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys.getKeyManagers(), anchors.getTrustManagers(), null);
        context.getServerSessionContext().setSessionTimeout(SESSION_SECONDS);
        context.getClientSessionContext().setSessionTimeout(SESSION_SECONDS);
        return context;
    }
}
