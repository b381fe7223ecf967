package io.sluice.engine;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The proven identity of a peer, as far as the engine's options require proof. Contains no secrets.
 *
 * @param engineId the identity that the peer claims; engines draw it at random, and it proves nothing
 * @param address the remote address of the peer's socket, as network address translation leaves it; {@code null} if the
 *     system does not know it
 * @param tokenName the name of the {@linkplain Token token} that the peer knows; {@code null} if the token has no name
 *     or none is required
 * @param certificateSubject the subject of the peer's certificate, such as {@code CN=decode-7,O=Example}, after RFC
 *     2253; {@code null} without TLS
 * @param certificateNames the DNS names, addresses, URIs and mail addresses of the certificate's subject alternative
 *     names; empty without TLS
 */
public record PeerIdentity(
        EngineId engineId,
        @Nullable InetSocketAddress address,
        @Nullable String tokenName,
        @Nullable String certificateSubject,
        List<String> certificateNames) {

    /** Copies the list. */
    public PeerIdentity {
        certificateNames = List.copyOf(certificateNames);
    }

    /**
     * Returns all proven names.
     *
     * @return those of the token's name, the certificate's subject and its alternative names that exist
     */
    public List<String> names() {
        return Stream.concat(
                        Stream.of(
                                        tokenName == null ? "" : tokenName,
                                        certificateSubject == null ? "" : certificateSubject)
                                .filter(name -> !name.isEmpty()),
                        certificateNames.stream())
                .toList();
    }
}
