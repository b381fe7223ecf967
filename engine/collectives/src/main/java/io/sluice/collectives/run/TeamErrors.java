package io.sluice.collectives.run;

import io.sluice.engine.SluiceException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes the typed errors of a team. Any thread. */
public interface TeamErrors {
    /** Ranks were lost, or have left. */
    SluiceException failed(Set<Integer> ranks, @Nullable Throwable cause);

    /** A collective did not end in its time. */
    SluiceException timedOut(String collective, int awaited);

    /** Another rank revoked the team because a collective of its own did not end in its time. */
    SluiceException timedOutElsewhere(int rank);

    /** Ranks called different collectives. */
    SluiceException mismatch(int peer, long ownHeader, long ownCount, long peerHeader, long peerCount);

    /** A rank sent what another one does not expect. */
    SluiceException mismatch(int peer, int tag, int ownType, long ownBytes, int peerType, long peerBytes);

    /** Another rank found that ranks called different collectives. */
    SluiceException mismatchElsewhere(int rank);

    /** The team was revoked; by this rank if the number is negative. */
    SluiceException revoked(int rank);

    /** The team was closed here. */
    SluiceException closed();

    /** The loop runs the team no more: its engine was closed, or the team's code threw the cause. */
    SluiceException removed(@Nullable Throwable cause);
}
