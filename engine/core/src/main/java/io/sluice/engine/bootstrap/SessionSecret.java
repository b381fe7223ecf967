package io.sluice.engine.bootstrap;

import io.sluice.engine.security.Hmac;
import io.sluice.engine.security.TlsPeer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * The secret that both sides of a bootstrap derive from the shared token and both nonces: each proves by it that it
 * knows the token, and that both saw the same bootstrap; each lane proves by it to which connection it belongs.
 * HMAC-SHA-256 (RFC 2104).
 */
final class SessionSecret {
    static final int PROOF_BYTES = 32;
    private static final byte[] NO_TOKEN = new byte[PROOF_BYTES];

    private final byte[] key;

    /**
     * Derives the secret.
     *
     * @param token the shared token, or null where none is used: then the proofs bind lanes and bootstrap together, but prove
     *     no identity
     * @param hello the initiator's first message
     * @param welcome the acceptor's first message without its proof
     */
    SessionSecret(byte @Nullable [] token, byte[] hello, byte[] welcome) {
        key = Hmac.of(token == null ? NO_TOKEN : digest(token), "sluice 1 session", hello, welcome);
    }

    /**
     * Derives the secret of a bootstrap within TLS: the proofs hold in that TLS session alone, so that an attacker
     * cannot relay them between two.
     *
     * @param security what the handshake has shown; null without TLS
     */
    SessionSecret(byte @Nullable [] token, byte[] hello, byte[] welcome, @Nullable TlsPeer security) {
        this(token, security == null ? hello : Hmac.of(security.binding(), "sluice 1 tls", hello), welcome);
    }

    /** An HMAC takes a key and the same key with zeros after it for one; their digests differ. */
    static byte[] digest(byte[] token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    byte[] acceptorProof() {
        return Hmac.of(key, "acceptor");
    }

    byte[] initiatorProof() {
        return Hmac.of(key, "initiator");
    }

    byte[] laneProof(byte[] connectionId, int index) {
        return Hmac.of(key, "lane", connectionId, new byte[] {(byte) index});
    }

    /** Proves a lane; {@code security} is null for a lane without a TLS handshake of its own. */
    byte[] laneProof(byte[] connectionId, int index, @Nullable TlsPeer security) {
        return security == null
                ? laneProof(connectionId, index)
                : Hmac.of(key, "lane in TLS", connectionId, new byte[] {(byte) index}, security.binding());
    }

    /** Compares in constant time. */
    static boolean matches(byte[] expected, byte[] actual) {
        return MessageDigest.isEqual(expected, actual);
    }
}
