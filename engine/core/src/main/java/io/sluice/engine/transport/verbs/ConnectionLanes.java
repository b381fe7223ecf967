package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The lanes of a connection: chooses one for each request, and another to take over when one breaks. */
@SuppressWarnings("ReferenceEquality") // a lane is its own identity
final class ConnectionLanes implements SiblingLanes {
    private VerbsLane[] lanes = {};
    private int next;

    /** Sets the lanes, which are not connected yet. */
    void use(List<VerbsLane> made) {
        lanes = made.toArray(VerbsLane[]::new);
    }

    /** Connects each lane with the peer's lane of the same index, and closes those without a counterpart. */
    void connect(VerbsOffer peer) {
        int count = Math.min(lanes.length, peer.lanes().size());
        for (int i = count; i < lanes.length; i++) {
            lanes[i].close();
        }
        lanes = Arrays.copyOf(lanes, count);
        int credits = Math.min(peer.credits(), LaneGroup.CREDITS);
        for (int i = 0; i < count; i++) {
            OfferedLane offered = peer.lanes().get(i);
            lanes[i].connect(offered, peer.rails().get(offered.rail()), credits);
        }
    }

    /**
     * Returns the lane that the peer names.
     *
     * @throws ProtocolException if it does not exist
     */
    VerbsLane lane(int index) {
        if (index >= lanes.length) {
            throw new ProtocolException("the peer named lane " + index + " of " + lanes.length);
        }
        return lanes[index];
    }

    // ---- choice ----

    /**
     * The lane with the fewest bytes in flight, round-robin among equals, of the nearest that are open; null if none of
     * them has room.
     *
     * @param onFirstRail whether its remote end must be the peer's first rail
     * @param near the rails that are nearest to the local memory, a bit for each; 0 if all are as near
     * @param peerNear the peer's rail that is nearest to the remote memory; −1 if all are as near
     */
    @Nullable
    VerbsLane leastLoaded(boolean onFirstRail, int near, int peerNear) {
        VerbsLane best = null;
        int bestRank = 0;
        for (int i = 0; i < lanes.length; i++) {
            int at = next + i;
            VerbsLane lane = lanes[at < lanes.length ? at : at - lanes.length];
            if (!lane.isOpen() || (onFirstRail && lane.peerRail() != 0)) {
                continue;
            }
            int rank = 2 * ((near >>> lane.rail().index()) & 1) + (lane.peerRail() == peerNear ? 1 : 0);
            if (rank > bestRank) {
                bestRank = rank;
                best = null;
            }
            if (rank == bestRank && lane.hasRoom() && (best == null || lane.load() < best.load())) {
                best = lane;
            }
        }
        next = next + 1 < lanes.length ? next + 1 : 0;
        return best;
    }

    boolean isAnyUpToFirstRail() {
        for (VerbsLane lane : lanes) {
            if (lane.peerRail() == 0 && !lane.isDown()) {
                return true;
            }
        }
        return false;
    }

    /** Returns a lane for messages that belong to none; null while none is open. */
    @Nullable
    LaneMessages anyOpen() {
        for (VerbsLane lane : lanes) {
            if (lane.isOpen()) {
                return lane.messages();
            }
        }
        return null;
    }

    // ---- when one breaks ----

    @Override
    public LaneMessages messages(int lane) {
        return lane(lane).messages();
    }

    @Override
    public boolean hasOpenElsewhere(int lane) {
        return deputyFor(lanes[lane]) != null;
    }

    /** An open lane on another path, or null. */
    private @Nullable VerbsLane deputyFor(VerbsLane lane) {
        for (VerbsLane other : lanes) {
            boolean otherPath = other.rail() != lane.rail() || other.peerRail() != lane.peerRail();
            if (otherPath && other.isOpen()) {
                return other;
            }
        }
        return null;
    }

    @Override
    public @Nullable LaneMessages carrierFor(int index) {
        VerbsLane lane = lanes[index];
        VerbsLane best = deputyFor(lane);
        for (VerbsLane other : lanes) {
            if (other != lane && !other.isDown() && (best == null || (!best.isOpen() && other.isOpen()))) {
                best = other;
            }
        }
        return best == null ? null : best.messages();
    }

    @Override
    public void recountAnswers() {
        for (VerbsLane lane : lanes) {
            lane.messages().forgetAnswers();
        }
        for (VerbsLane lane : lanes) {
            lane.messages().countAnswers();
        }
    }

    boolean isAnyDown() {
        for (VerbsLane lane : lanes) {
            if (lane.isDown()) {
                return true;
            }
        }
        return false;
    }

    boolean areAllDown() {
        for (VerbsLane lane : lanes) {
            if (!lane.isDown()) {
                return false;
            }
        }
        return true;
    }

    /** Tries to revive all lanes that are down; returns whether some still are. */
    boolean revive() {
        boolean someDown = false;
        for (VerbsLane lane : lanes) {
            lane.revive();
            someDown |= lane.isDown();
        }
        return someDown;
    }

    // ---- messages ----

    /** Adds the waiting messages of open lanes to the batch. */
    void sendMessages() {
        for (VerbsLane lane : lanes) {
            if (lane.isOpen() && lane.messages().waiting() > 0) {
                lane.messages().send();
            }
        }
    }

    /** Sends a marker on each other lane written on since the last notification; returns how many. */
    int sendMarkers(LaneMessages except, long number) {
        int count = 0;
        for (VerbsLane lane : lanes) {
            LaneMessages messages = lane.messages();
            if (lane.visibility().takeWrittenSinceNotification() && messages != except && !lane.isDown()) {
                messages.enqueue(messages.message(VerbsMessage.MARKER).word(number));
                count++;
            }
        }
        return count;
    }

    /** Requests a read on each lane that was written on. */
    void makeVisible(VisibilityRequest request) {
        for (VerbsLane lane : lanes) {
            if (lane.visibility().takeWrittenSinceVisible() && !lane.isDown()) {
                lane.visibility().ask(request);
            }
        }
    }

    // ---- watchdog, figures and end ----

    /** Returns a lane that has work but makes no progress, or null. */
    @Nullable
    VerbsLane stuck(long now, long timeoutNanos) {
        for (VerbsLane lane : lanes) {
            if (lane.isStuck(now, timeoutNanos)) {
                return lane;
            }
        }
        return null;
    }

    int count(PathState state) {
        int count = 0;
        for (VerbsLane lane : lanes) {
            count += lane.pathState() == state ? 1 : 0;
        }
        return count;
    }

    int rails(PathState state) {
        if (state == PathState.HEALING) {
            return 0;
        }
        Set<Rail> used = new HashSet<>();
        Set<Rail> up = new HashSet<>();
        for (VerbsLane lane : lanes) {
            used.add(lane.rail());
            if (lane.pathState() != PathState.DOWN) {
                up.add(lane.rail());
            }
        }
        return state == PathState.UP ? up.size() : used.size() - up.size();
    }

    void close() {
        for (VerbsLane lane : lanes) {
            lane.close();
        }
    }
}
