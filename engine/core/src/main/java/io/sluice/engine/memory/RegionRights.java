package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.PeerAuthorizer;
import io.sluice.engine.PeerIdentity;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The rights that the user's authorizer gives a peer; without an authorizer all. */
public final class RegionRights {
    private static final Logger LOG = LoggerFactory.getLogger(RegionRights.class);
    private static final Set<Access> ALL = Set.of(Access.values());

    private final @Nullable PeerAuthorizer authorizer;
    private final PeerIdentity peer;

    public RegionRights(@Nullable PeerAuthorizer authorizer, PeerIdentity peer) {
        this.authorizer = authorizer;
        this.peer = peer;
    }

    public boolean mayConnect() {
        try {
            return authorizer == null || authorizer.mayConnect(peer);
        } catch (RuntimeException e) {
            LOG.error("the authorizer threw an exception, so {} may not connect", peer, e);
            return false;
        }
    }

    /** Returns the peer's part of a region's rights; none if it must not know the name. */
    Set<Access> of(@Nullable String region, Set<Access> ofRegion) {
        if (authorizer == null) {
            return ofRegion;
        }
        try {
            EnumSet<Access> rights = EnumSet.noneOf(Access.class);
            rights.addAll(ofRegion);
            rights.retainAll(authorizer.access(peer, region));
            return rights;
        } catch (RuntimeException e) {
            LOG.error("the authorizer threw an exception, so {} may not use region '{}'", peer, region, e);
            return Set.of();
        }
    }

    /** Whether the peer may learn whether a region of this name exists. */
    boolean mayLookUp(String region) {
        return !of(region, ALL).isEmpty();
    }
}
