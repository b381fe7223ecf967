package io.sluice.collectives.link;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A peer whose region this process has mapped. What is stored there the peer finds when it looks; a peer that has ceased
 * to look says so in a word of its region, and is woken by a signal of the engine. All of it is the loop's.
 */
public final class MappedPeer {
    static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int WAKES = 2;

    private final int peer;
    private final RemoteRegion remote;
    private final MemorySegment memory;
    private final LaneUser user;
    private final long asleepAt;
    private final SignalUpdate woken;
    private final Wake[] wakes = new Wake[WAKES];
    private boolean stopped;

    private MappedPeer(LinkLayout layout, int peer, RemoteRegion remote, MemorySegment memory, LaneUser user) {
        this.peer = peer;
        this.remote = remote;
        this.memory = memory;
        this.user = user;
        this.asleepAt = layout.asleepAt();
        this.woken = new SignalUpdate(new RemoteSignal(remote, layout.wokenAt()), 1, SignalOrder.WEAK);
        for (int i = 0; i < wakes.length; i++) {
            wakes[i] = new Wake();
        }
    }

    /** Returns the peer, or null if its region is not mapped so that it can be written. */
    public static @Nullable MappedPeer of(LinkLayout layout, int peer, RemoteRegion remote, LaneUser user) {
        MemorySegment memory = remote.mapped();
        return memory == null || memory.isReadOnly() ? null : new MappedPeer(layout, peer, remote, memory, user);
    }

    MemorySegment memory() {
        return memory;
    }

    /** Makes what was stored visible, and wakes the peer if it does not look. */
    void ring() {
        // either the peer sees what was stored when it looks for the last time, or this rank sees that it sleeps
        VarHandle.fullFence();
        try {
            if ((long) WORD.getOpaque(memory, asleepAt) != 0 && (long) WORD.getAndSet(memory, asleepAt, 0L) != 0) {
                wake();
            }
        } catch (IllegalStateException ended) {
            throw failed(ended);
        }
    }

    private void wake() {
        for (Wake wake : wakes) {
            if (!wake.busy) {
                wake.start();
                return;
            }
        }
        remote.connection().signal(woken, TransferOptions.defaults(), (transfer, error) -> woken(error));
    }

    private void woken(@Nullable SluiceException error) {
        if (error != null && !stopped) {
            user.peerFailed(peer, error);
        }
    }

    /** Says that this rank ends its collectives with an error: what the peer reads of its memory counts no more. */
    public void breakOff(long at) {
        try {
            WORD.setVolatile(memory, at, 1L);
        } catch (IllegalStateException ended) {
            // the peer has ended as well, or is lost
        }
    }

    /** The peer's memory could not be accessed; returns what to throw. */
    RuntimeException failed(IllegalStateException error) {
        return memory.scope().isAlive()
                ? error
                : new LinkFailedException(
                        peer,
                        new ConnectionLostException("the memory of rank " + peer + " is not mapped any more", error));
    }

    /** From now on it does not matter whether the peer can be woken. */
    public void stop() {
        stopped = true;
    }

    /** Wakes the peer, again and again. */
    private final class Wake implements TransferCallback {
        private @Nullable PreparedTransfer transfer;
        private boolean busy;

        void start() {
            PreparedTransfer prepared = transfer;
            if (prepared == null) {
                prepared = remote.connection().prepared().signal(woken, TransferOptions.defaults(), this);
                transfer = prepared;
            }
            busy = true;
            try {
                prepared.start();
            } catch (SluiceException e) {
                busy = false;
                throw new LinkFailedException(peer, e);
            }
        }

        @Override
        public void terminated(Transfer ended, @Nullable SluiceException error) {
            busy = false;
            woken(error);
        }
    }
}
