package io.sluice.engine.bootstrap;

import io.sluice.engine.EngineId;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.Token;
import io.sluice.engine.security.TlsPeer;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Combines what the parts of a bootstrap have shown of a peer. */
final class PeerIdentities {
    private PeerIdentities() {}

    static PeerIdentity of(
            EngineId peer, @Nullable InetSocketAddress address, @Nullable Token token, @Nullable TlsPeer security) {
        return new PeerIdentity(
                peer,
                address,
                token == null ? null : token.name(),
                security == null ? null : security.subject(),
                security == null ? List.of() : security.names());
    }
}
