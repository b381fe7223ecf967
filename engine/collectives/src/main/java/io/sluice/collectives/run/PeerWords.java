package io.sluice.collectives.run;

import io.sluice.collectives.link.LinkLayout;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The words by which ranks say that they have revoked or left the team: each at most once. All of it is the loop's. */
final class PeerWords {
    private final LinkLayout layout;
    private final int rank;
    private final MemoryRegion own;
    private final @Nullable RemoteRegion[] remotes;
    private final List<SignalWait> waits = new ArrayList<>();
    private boolean revoked;

    /** What peers say. */
    interface Listener {
        void revokedBy(int peer, long word);

        void leftBy(int peer);

        /** A peer has said whether it has mapped the regions of all others. */
        void mapsKnown();
    }

    PeerWords(LinkLayout layout, int rank, MemoryRegion own, @Nullable RemoteRegion[] remotes) {
        this.layout = layout;
        this.rank = rank;
        this.own = own;
        this.remotes = remotes;
    }

    void listen(EngineLoop loop, Listener listener) {
        for (int i = 0; i < remotes.length; i++) {
            int peer = i;
            if (remotes[peer] != null) {
                waits.add(own.signal(layout.revokedAt(peer)).onAtLeast(1, loop, (wait, value, error) -> {
                    if (error == null) {
                        listener.revokedBy(peer, value);
                    }
                }));
                waits.add(own.signal(layout.mapsAt(peer)).onAtLeast(1, loop, (wait, value, error) -> {
                    if (error == null) {
                        listener.mapsKnown();
                    }
                }));
                waits.add(own.signal(layout.leftAt(peer)).onAtLeast(1, loop, (wait, value, error) -> {
                    if (error == null) {
                        listener.leftBy(peer);
                    }
                }));
            }
        }
    }

    /** Tells all peers whether this rank has mapped the regions of all others. */
    void tellMaps(long word) {
        for (RemoteRegion remote : remotes) {
            if (remote != null) {
                addWeakly(remote, layout.mapsAt(rank), word);
            }
        }
    }

    /** Tells all peers, before anything else that is under way. */
    void revoke(long word) {
        if (!revoked) {
            revoked = true;
            for (RemoteRegion remote : remotes) {
                if (remote != null) {
                    addWeakly(remote, layout.revokedAt(rank), word);
                }
            }
        }
    }

    /** Tells all peers, after everything that was sent to them. */
    CompletableFuture<Void> leave() {
        List<CompletableFuture<Void>> told = new ArrayList<>();
        for (RemoteRegion remote : remotes) {
            if (remote != null) {
                told.add(add(remote, layout.leftAt(rank), 1, SignalOrder.STRONG));
            }
        }
        return CompletableFuture.allOf(told.toArray(CompletableFuture[]::new));
    }

    /** Adds to a word, without waiting for what was sent before. */
    static void addWeakly(RemoteRegion remote, long at, long value) {
        add(remote, at, value, SignalOrder.WEAK);
    }

    /** A peer that cannot be told is lost, or has left as well. */
    private static CompletableFuture<Void> add(RemoteRegion remote, long at, long value, SignalOrder order) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        try {
            SignalUpdate update = new SignalUpdate(new RemoteSignal(remote, at), value, order);
            remote.connection().signal(update, TransferOptions.defaults(), (transfer, error) -> ended.complete(null));
        } catch (SluiceException unreachable) {
            ended.complete(null);
        }
        return ended;
    }

    /** Completes when no transfer to a peer touches memory any more. */
    CompletableFuture<Void> quiesced() {
        CompletableFuture<?>[] all = new CompletableFuture<?>[remotes.length];
        for (int i = 0; i < all.length; i++) {
            RemoteRegion remote = remotes[i];
            all[i] = remote == null
                    ? CompletableFuture.completedFuture(null)
                    : remote.connection().quiesced();
        }
        return CompletableFuture.allOf(all);
    }

    void stop() {
        waits.forEach(SignalWait::close);
    }
}
