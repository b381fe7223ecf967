package io.sluice.collectives.run;

import io.sluice.collectives.link.LinkLayout;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Why no collective of a team can succeed any more, and which ranks are lost. The first failure counts, and is told to all
 * ranks. {@link #failure}, {@link #check}, {@link #ended} and {@link #ranks} may be called from any thread; the rest is
 * the loop's.
 */
final class Failures implements PeerWords.Listener {
    private final LinkLayout layout;
    private final int rank;
    private final MemoryRegion own;
    private final @Nullable RemoteRegion[] remotes;
    private final TeamErrors errors;
    private final PeerWords words;
    private final Team team;
    private final FailedRanks failed = new FailedRanks();
    private final TeamEnd ending = new TeamEnd();
    private @Nullable Agreement agreement;
    private boolean closing;

    /** What runs the collectives. */
    interface Team {
        /** The team has failed; the peers are not told yet. */
        void breakOff();

        /** The team has failed, and the peers are told. */
        void peersTold();

        /** Which ranks have left, or have mapped each other's memory, has changed. */
        void peersChanged();
    }

    Failures(
            LinkLayout layout,
            int rank,
            MemoryRegion own,
            @Nullable RemoteRegion[] remotes,
            TeamErrors errors,
            PeerWords words,
            Team team) {
        this.layout = layout;
        this.rank = rank;
        this.own = own;
        this.remotes = remotes;
        this.errors = errors;
        this.words = words;
        this.team = team;
    }

    /** Returns why no collective can succeed any more, or null. */
    @Nullable
    SluiceException failure() {
        return ending.error();
    }

    /** Throws why no collective can succeed any more. */
    void check() {
        ending.check();
    }

    /** Returns a stage that completes when no collective can succeed any more, normally if the team is closed. */
    CompletionStage<Void> ended() {
        return ending.stage();
    }

    /** Returns the ranks that were lost or have left, as far as this rank knows. */
    FailedRanks ranks() {
        return failed;
    }

    /** Something failed here, or the team is revoked. */
    void failHere(SluiceException error) {
        fail(error, Revocation.BY_CALL, Set.of(rank));
    }

    void revoke() {
        failHere(errors.revoked(-1));
    }

    void mismatch(SluiceException error) {
        fail(error, Revocation.MISMATCH, Set.of(rank));
    }

    void timedOut(String what, int awaited) {
        fail(errors.timedOut(what, awaited), Revocation.TIMED_OUT, Set.of(rank));
    }

    /** A collective waits for ranks that were lost or have left. */
    void ranksFailed(@Nullable Throwable cause) {
        fail(errors.failed(failed, cause), Revocation.FAILED_RANKS, failed);
    }

    void transferFailed(int peer, SluiceException error) {
        if (error instanceof ConnectionLostException
                || error instanceof OutcomeUnknownException
                || error instanceof RemoteAccessException) {
            lost(peer, error);
        } else {
            failHere(error);
        }
    }

    /** A message that a collective needs cannot be sent, be it because the peer has left. */
    void sendFailed(int peer, SluiceException error) {
        transferFailed(peer, error);
        if (failure() == null) {
            ranksFailed(error);
        }
    }

    void lost(int peer, @Nullable Throwable error) {
        if (!closing && failed.add(peer)) {
            ranksFailed(error);
            lookAtAgreement();
        }
    }

    @Override
    public void leftBy(int peer) {
        if (failed.add(peer)) {
            team.peersChanged();
            lookAtAgreement();
        }
    }

    @Override
    public void mapsKnown() {
        team.peersChanged();
    }

    @Override
    public void revokedBy(int peer, long word) {
        Set<Integer> named = Revocation.ranks(word);
        int reason = Revocation.reason(word);
        if (reason == Revocation.FAILED_RANKS) {
            failed.addAll(named);
        }
        // the peer may have passed it on
        int first = named.isEmpty() ? peer : named.iterator().next();
        fail(Revocation.error(reason, errors, first, failed), reason, new TreeSet<>(named));
    }

    private void fail(SluiceException error, int reason, Set<Integer> named) {
        if (ending.failed(error)) {
            team.breakOff();
            words.revoke(Revocation.word(reason, named));
            team.peersTold();
        }
    }

    /** The team ends here, which the peers learn from a word of its own. */
    void close() {
        closing = true;
        if (ending.closed(errors.closed())) {
            team.breakOff();
        }
    }

    boolean isClosing() {
        return closing;
    }

    /** The loop runs the team no more. */
    void removed(@Nullable Throwable cause) {
        ending.failed(errors.removed(cause));
        Agreement current = agreement;
        if (current != null) {
            current.decided().completeExceptionally(errors.closed());
        }
    }

    /** Revokes the team, and agrees with the survivors on the failed ranks. */
    void agree(String name, EngineLoop loop, CompletableFuture<Set<Integer>> agreed) {
        revoke();
        Agreement before = agreement;
        if (before != null && !before.decided().isDone()) {
            agreed.completeExceptionally(new IllegalStateException(name + " is shrinking already"));
            return;
        }
        int round = before == null ? 0 : before.nextRound();
        Agreement next = new Agreement(layout, rank, own, remotes, failed, loop, round);
        agreement = next;
        next.begin(agreed);
    }

    private void lookAtAgreement() {
        Agreement current = agreement;
        if (current != null) {
            current.look();
        }
    }
}
