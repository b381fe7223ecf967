package io.sluice.engine;

import io.sluice.engine.security.Reloaded;
import io.sluice.engine.security.TlsContexts;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * Mutual TLS 1.3: both engines show a certificate, and both must trust the other's. It protects the control channel of every
 * connection and, with {@link #data}, the data that goes over tcp; shared memory and RDMA it cannot protect. Immutable.
 *
 * <p>Files are looked at once a second at most, when there is a handshake, and read again if one has changed: a new certificate
 * counts from the next handshake on. If they cannot be used then, the last ones stay, and a warning is logged. Connections that
 * live are not touched.
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
     * Of files in PEM. One file may hold several things, such as the key and its certificates, in any order and with other text
     * between: what is not asked for is passed over.
     *
     * @param certificates the engine's certificate, and those that lead to the trusted one
     * @param key its private key: PKCS#8 without a password, in a file that only its owner and group may read
     * @param trusted the certificates of the authorities that peers' certificates must come from
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
     * Of a PKCS#12 key store, with the engine's key and its certificates, and the trusted certificates.
     *
     * @param store in a file that only its owner and group may read
     * @param password of the store and of the key in it; copied
     * @return options that read it at the first handshake
     */
    public static TlsOptions keyStore(Path store, char[] password) {
        char[] secret = password.clone();
        Reloaded<SSLContext> files =
                new Reloaded<>("the TLS key store", List.of(store), () -> TlsContexts.ofKeyStore(store, secret));
        return new TlsOptions(files::get, store.toString(), false, true);
    }

    /**
     * Of a provider of one's own.
     *
     * @param context asked at each handshake, on a thread of its own that may block: it gives the context of this moment, which
     *     must know TLS 1.3 and its exporters
     * @return the options
     */
    public static TlsOptions of(Supplier<SSLContext> context) {
        return new TlsOptions(Objects.requireNonNull(context, "context"), "a provider", false, true);
    }

    /**
     * Whether the data on tcp is protected as well. Default false: what is transferred is then neither encrypted nor
     * protected against an attacker who can change packets in transit. One engine of a connection that asks for it
     * suffices. The bytes go through the processor once more on each side.
     *
     * @param protect true for the data as well
     * @return options with that
     */
    public TlsOptions data(boolean protect) {
        return new TlsOptions(context, origin, protect, verifyHost);
    }

    /**
     * Whether the certificate of the engine that this one connects to must name the host (or address) of the {@link
     * EngineAddress}, as a browser asks for it (RFC 2818). Default true. Without it every holder of a trusted certificate can pose
     * as any engine, unless a {@link PeerAuthorizer} looks at the names: it is asked for outgoing connections, too.
     *
     * @param verify false to trust the authority alone
     * @return options with that
     */
    public TlsOptions verifyHost(boolean verify) {
        return new TlsOptions(context, origin, data, verify);
    }

    /**
     * See {@link #data(boolean)}.
     *
     * @return whether data on tcp is protected
     */
    public boolean data() {
        return data;
    }

    /**
     * See {@link #verifyHost(boolean)}.
     *
     * @return whether certificates must name the host
     */
    public boolean verifyHost() {
        return verifyHost;
    }

    /**
     * The context of this moment. It may read files: not for a poller.
     *
     * @return the context
     * @throws SluiceException if it cannot be made
     */
    public SSLContext context() {
        return context.get();
    }

    /** Leaves passwords out. */
    @Override
    public String toString() {
        return "TlsOptions[" + origin + ", data=" + data + ", verifyHost=" + verifyHost + "]";
    }
}
