package io.sluice.engine;

import io.sluice.engine.security.Reloaded;
import io.sluice.engine.security.TlsContexts;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * Mutual TLS 1.3: both engines present a certificate, and each must trust the other's. TLS protects the control channel
 * of every connection and, with {@link #data}, data on tcp. It cannot protect shared memory and RDMA. Immutable.
 *
 * <p>At a handshake, at most once a second, changed files are read again, so a new certificate applies from the next
 * handshake on. If the new files cannot be used, the previous ones stay in use and a warning is logged. Open
 * connections are not affected.
 */
public final class TlsOptions {
    private final Supplier<SSLContext> context;
    private final String origin;
    private final boolean data;
    private final boolean verifyHost;

    private TlsOptions(Supplier<SSLContext> context, String origin, boolean data, boolean verifyHost) {
        this.context = context;
        this.origin = origin;
        this.data = data;
        this.verifyHost = verifyHost;
    }

    /**
     * Creates options from PEM files. A file may contain several items, such as the key and its certificates, in any
     * order and with other text between them; items that are not needed are skipped.
     *
     * @param certificates the engine's certificate and the intermediate certificates up to the trusted one
     * @param key the private key: PKCS#8 without a password, in a file that only its owner and group may read
     * @param trusted the certificates of the authorities that must have issued the peers' certificates
     * @return options that read them at the first handshake
     */
    public static TlsOptions pem(Path certificates, Path key, Path trusted) {
        Reloaded<SSLContext> files = new Reloaded<>(
                "the TLS files",
                List.of(certificates, key, trusted),
                () -> TlsContexts.ofPem(certificates, key, trusted));
        return new TlsOptions(files::get, certificates + ", " + key + ", " + trusted, false, true);
    }

    /**
     * Creates options from a PKCS#12 key store with the engine's key and certificates and the trusted certificates.
     *
     * @param store the key store, a file that only its owner and group may read
     * @param password the password of the store and of its key; copied
     * @return options that read it at the first handshake
     */
    public static TlsOptions keyStore(Path store, char[] password) {
        char[] secret = password.clone();
        Reloaded<SSLContext> files =
                new Reloaded<>("the TLS key store", List.of(store), () -> TlsContexts.ofKeyStore(store, secret));
        return new TlsOptions(files::get, store.toString(), false, true);
    }

    /**
     * Creates options from a provider of TLS contexts.
     *
     * @param context called at each handshake, on a separate thread that may block; returns the current context, which
     *     must support TLS 1.3 and its exporters
     * @return the options
     */
    public static TlsOptions of(Supplier<SSLContext> context) {
        return new TlsOptions(Objects.requireNonNull(context, "context"), "a provider", false, true);
    }

    /**
     * Sets whether TLS also protects data on tcp. Default false: transferred data is then neither encrypted nor
     * protected against an attacker who can change packets in transit. It suffices that one engine of a connection asks
     * for it. The processor passes over the bytes once more on each side.
     *
     * @param protect true to protect the data as well
     * @return new options
     */
    public TlsOptions data(boolean protect) {
        return new TlsOptions(context, origin, protect, verifyHost);
    }

    /**
     * Sets whether the certificate of an engine that this one connects to must name the host or address of the {@link
     * EngineAddress}, as browsers require (RFC 2818). Default true. Without it every holder of a trusted certificate
     * can pose as any engine, unless a {@link PeerAuthorizer} checks the names; it is asked for outgoing connections,
     * too.
     *
     * @param verify false to trust any certificate of the authority
     * @return new options
     */
    public TlsOptions verifyHost(boolean verify) {
        return new TlsOptions(context, origin, data, verify);
    }

    /**
     * Returns whether TLS protects data on tcp; see {@link #data(boolean)}.
     *
     * @return whether data on tcp is protected
     */
    public boolean data() {
        return data;
    }

    /**
     * Returns whether certificates must name the host; see {@link #verifyHost(boolean)}.
     *
     * @return whether certificates must name the host
     */
    public boolean verifyHost() {
        return verifyHost;
    }

    /**
     * Returns the current context. This may read files: do not call it on a poller.
     *
     * @return the context
     * @throws SluiceException if it cannot be created
     */
    public SSLContext context() {
        return context.get();
    }

    /** Omits passwords. */
    @Override
    public String toString() {
        return "TlsOptions[" + origin + ", data=" + data + ", verifyHost=" + verifyHost + "]";
    }
}
