package io.sluice.collectives.run;

import io.sluice.collectives.link.LinkLayout;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The survivors of a team agree on the set of failed ranks. In each round every rank gives its set to all that it does
 * not take for failed and awaits theirs. It has decided when all were the same; else the union goes into the next round.
 * Who has decided says so in the next round, and who gets that word decides the same: one that has decided may be missed
 * no more. All of it is the loop's.
 */
final class Agreement {
    private static final long GIVEN = 1L << 62;
    private static final long DECIDED = 1L << 61;
    private static final long RANKS = (1L << LinkLayout.ranksOfAWord()) - 1;

    private final LinkLayout layout;
    private final int rank;
    private final MemoryRegion own;
    private final @Nullable RemoteRegion[] remotes;
    private final Set<Integer> failed;
    private final EngineLoop loop;
    private final CompletableFuture<Set<Integer>> decided = new CompletableFuture<>();
    private final Set<Integer> suspects = new TreeSet<>();
    private int round;

    /**
     * Creates it.
     *
     * @param failed the ranks that this one takes for failed; may grow
     * @param firstRound one that no earlier agreement of the team has used; the same on all ranks
     */
    Agreement(
            LinkLayout layout,
            int rank,
            MemoryRegion own,
            @Nullable RemoteRegion[] remotes,
            Set<Integer> failed,
            EngineLoop loop,
            int firstRound) {
        this.layout = layout;
        this.rank = rank;
        this.own = own;
        this.remotes = remotes;
        this.failed = failed;
        this.loop = loop;
        this.round = firstRound;
    }

    CompletableFuture<Set<Integer>> decided() {
        return decided;
    }

    /** The first round that a later agreement may use, once this one has decided. */
    int nextRound() {
        return round + 1;
    }

    /**
     * Begins.
     *
     * @param agreed completes when it has decided
     */
    void begin(CompletableFuture<Set<Integer>> agreed) {
        decided.whenComplete((ranks, error) -> {
            if (error == null) {
                agreed.complete(ranks);
            } else {
                agreed.completeExceptionally(error);
            }
        });
        suspects.addAll(failed);
        give(0);
        awaitOthers();
        look();
    }

    private void give(long flags) {
        if (round >= LinkLayout.AGREEMENT_ROUNDS) {
            decided.completeExceptionally(new SluiceException(
                    "the ranks do not agree in " + LinkLayout.AGREEMENT_ROUNDS + " rounds which of them have failed"));
            return;
        }
        for (int peer = 0; peer < remotes.length; peer++) {
            RemoteRegion remote = remotes[peer];
            if (remote != null && !suspects.contains(peer)) {
                for (int word = 0; word < layout.agreementWords(); word++) {
                    PeerWords.addWeakly(remote, layout.agreementAt(rank, round, word), GIVEN | flags | bits(word));
                }
            }
        }
    }

    private long bits(int word) {
        long bits = 0;
        for (int suspect : suspects) {
            if (suspect / LinkLayout.ranksOfAWord() == word) {
                bits |= 1L << suspect % LinkLayout.ranksOfAWord();
            }
        }
        return bits;
    }

    private void awaitOthers() {
        for (int peer = 0; peer < remotes.length && round < LinkLayout.AGREEMENT_ROUNDS; peer++) {
            if (remotes[peer] != null) {
                for (int word = 0; word < layout.agreementWords(); word++) {
                    own.signal(layout.agreementAt(peer, round, word))
                            .awaitAtLeast(1)
                            .whenComplete((value, error) -> lookSoon());
                }
            }
        }
    }

    private void lookSoon() {
        try {
            loop.execute(this::look);
        } catch (SluiceException engineIsClosed) {
            decided.completeExceptionally(engineIsClosed);
        }
    }

    /** Looks whether all have given their sets; also called when a rank has failed. */
    void look() {
        while (!decided.isDone() && round < LinkLayout.AGREEMENT_ROUNDS) {
            Set<Integer> before = new TreeSet<>(suspects);
            boolean same = true;
            for (int peer = 0; peer < remotes.length; peer++) {
                if (remotes[peer] == null || before.contains(peer)) {
                    continue;
                }
                // before the question whether it has failed: one that has left may have given its set
                if (hasGiven(peer)) {
                    Set<Integer> given = given(peer);
                    if ((word(peer, 0) & DECIDED) != 0) {
                        suspects.clear();
                        suspects.addAll(given);
                        decided.complete(given);
                        return;
                    }
                    same &= given.equals(before);
                    suspects.addAll(given);
                } else if (failed.contains(peer)) {
                    suspects.add(peer);
                    same = false;
                } else {
                    return;
                }
            }
            round++;
            if (same) {
                give(DECIDED);
                decided.complete(before);
                return;
            }
            give(0);
            awaitOthers();
        }
    }

    private long word(int peer, int word) {
        return own.signal(layout.agreementAt(peer, round, word)).value();
    }

    private boolean hasGiven(int peer) {
        for (int word = 0; word < layout.agreementWords(); word++) {
            if (word(peer, word) == 0) {
                return false;
            }
        }
        return true;
    }

    private Set<Integer> given(int peer) {
        Set<Integer> given = new TreeSet<>();
        for (int word = 0; word < layout.agreementWords(); word++) {
            long bits = word(peer, word) & RANKS;
            for (long left = bits; left != 0; left &= left - 1) {
                given.add(word * LinkLayout.ranksOfAWord() + Long.numberOfTrailingZeros(left));
            }
        }
        return given;
    }
}
