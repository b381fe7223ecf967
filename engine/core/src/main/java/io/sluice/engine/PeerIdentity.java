package io.sluice.engine;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The proven identity of a peer, as far as the engine's options require proof. Contains no secrets.
 *
 * @param engineId the peer's own word: an engine draws it at random, and it proves nothing
 * @param address where the peer's socket comes from, or leads to; {@code null} if the system does not know. Network
 *     address
 *     translation changes it
 * @param tokenName the name of the {@linkplain Token token} that the peer knows; {@code null} if that has none, or none is asked
 *     for
 * @param certificateSubject the subject of the peer's certificate, such as {@code CN=decode-7,O=Example}, after RFC 2253;
 *     {@code null} without TLS
 * @param certificateNames the DNS names, addresses, URIs and mail addresses of the certificate's subject alternative names;
 *     empty without TLS
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
     * All names that are proved.
     *
     * @return the token's name, the certificate's subject and its alternative names, as far as there are any
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
