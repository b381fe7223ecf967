package io.sluice.collectives.run;

import java.io.Serial;

/** A message is not of the collective that this rank has called. */
final class HeaderMismatch extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    final int peer;
    final long ownHeader;
    final long ownCount;
    final long peerHeader;
    final long peerCount;

    HeaderMismatch(int peer, long ownHeader, long ownCount, long peerHeader, long peerCount) {
        this.peer = peer;
        this.ownHeader = ownHeader;
        this.ownCount = ownCount;
        this.peerHeader = peerHeader;
        this.peerCount = peerCount;
    }
}
