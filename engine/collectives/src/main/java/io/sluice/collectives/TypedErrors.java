package io.sluice.collectives;

import io.sluice.collectives.run.Header;
import io.sluice.collectives.run.TeamErrors;
import io.sluice.engine.SluiceException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The errors of a team.
 *
 * @param team its name in messages
 */
record TypedErrors(String team) implements TeamErrors {
    @Override
    public SluiceException failed(Set<Integer> ranks, @Nullable Throwable cause) {
        return new RankFailedException(
                (ranks.size() == 1 ? "rank " : "ranks ") + list(ranks) + " of " + team
                        + (ranks.size() == 1 ? " is lost or has left" : " are lost or have left")
                        + (cause == null ? "" : ": " + cause.getMessage()),
                ranks,
                cause);
    }

    private static String list(Set<Integer> ranks) {
        return String.join(", ", ranks.stream().map(String::valueOf).toList());
    }

    @Override
    public SluiceException timedOut(String collective, int awaited) {
        return new CollectiveTimeoutException(collective + " of " + team + " did not end in its time"
                + (awaited < 0 ? "" : "; this rank waits for rank " + awaited));
    }

    @Override
    public SluiceException timedOutElsewhere(int rank) {
        return new TeamRevokedException(
                team + " is revoked: on rank " + rank + " a collective did not end in its time");
    }

    @Override
    public SluiceException mismatch(int peer, long ownHeader, long ownCount, long peerHeader, long peerCount) {
        if (Header.isSameCall(ownHeader, peerHeader) && ownCount == peerCount) {
            return new CollectiveMismatchException("this rank of " + team + " and rank " + peer
                    + " called different collectives before " + text(ownHeader, ownCount)
                    + ", or prepared them in another order");
        }
        return new CollectiveMismatchException("the ranks of " + team + " called different collectives: this one "
                + text(ownHeader, ownCount) + ", rank " + peer + " " + text(peerHeader, peerCount));
    }

    @Override
    public SluiceException mismatch(int peer, int tag, int ownType, long ownBytes, int peerType, long peerBytes) {
        return new CollectiveMismatchException("with tag " + tag + " of " + team + " this rank expects " + ownBytes
                + " bytes of type " + ownType + ", and rank " + peer + " sends " + peerBytes + " of type " + peerType);
    }

    private static String text(long header, long count) {
        return CollectiveKind.textOf(Header.kind(header)) + " (number " + Header.number(header) + ", type "
                + Header.type(header) + ", operation " + Header.operation(header) + ", algorithm "
                + Header.algorithm(header) + ", root " + Header.root(header) + ", count " + count + ")";
    }

    @Override
    public SluiceException mismatchElsewhere(int rank) {
        return new CollectiveMismatchException(
                "the ranks of " + team + " called different collectives, as rank " + rank + " has found");
    }

    @Override
    public SluiceException revoked(int rank) {
        return new TeamRevokedException(team + " is revoked by " + (rank < 0 ? "this rank" : "rank " + rank));
    }

    @Override
    public SluiceException closed() {
        return new TeamClosedException(team + " is closed on this rank");
    }

    @Override
    public SluiceException removed(@Nullable Throwable cause) {
        if (cause instanceof SluiceException error) {
            return error;
        }
        return cause == null ? closed() : new SluiceException(team + " has failed on this rank", cause);
    }
}
