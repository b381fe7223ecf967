package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The lanes of a connection: which of them takes a request, and which takes over when another breaks. */
@SuppressWarnings("ReferenceEquality") // a lane is its own identity
final class ConnectionLanes implements SiblingLanes {
    private VerbsLane[] lanes = {};
    private int next;

    /** From now on these are the lanes, not connected yet. */
    void use(List<VerbsLane> made) {
        lanes = made.toArray(VerbsLane[]::new);
    }

    /** Connects the first ones of both sides, each with the peer's of the same index, and closes what is beyond. */
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
     * The lane that the peer names.
     *
     * @throws ProtocolException if there is none
     */
    VerbsLane lane(int index) {
        if (index >= lanes.length) {
            throw new ProtocolException("the peer names lane " + index + " of " + lanes.length);
        }
        return lanes[index];
    }

    // ---- choice ----

    /**
     * The lane with the fewest bytes under way, in turn among equals, or null if none has room.
     *
     * @param onFirstRail whether the peer's first rail must be at its other end
     */
    @Nullable
    VerbsLane leastLoaded(boolean onFirstRail) {
        VerbsLane best = null;
        for (int i = 0; i < lanes.length; i++) {
            int at = next + i;
            VerbsLane lane = lanes[at < lanes.length ? at : at - lanes.length];
            if (lane.hasRoom()
                    && (!onFirstRail || lane.peerRail() == 0)
                    && (best == null || lane.load() < best.load())) {
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

    /** For what has no lane of its own; null while none is open. */
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

    /** Tries all that are down; says whether some still are. */
    boolean revive() {
        boolean someDown = false;
        for (VerbsLane lane : lanes) {
            lane.revive();
            someDown |= lane.isDown();
        }
        return someDown;
    }

    // ---- messages ----

    /** Adds what waits on open lanes to the batch. */
    void sendMessages() {
        for (VerbsLane lane : lanes) {
            if (lane.isOpen() && lane.messages().waiting() > 0) {
                lane.messages().send();
            }
        }
    }

    /** Sends a marker on each lane but one that was written on since the last notification; says on how many. */
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

    /** Asks each lane that was written on for a read. */
    void makeVisible(VisibilityRequest request) {
        for (VerbsLane lane : lanes) {
            if (lane.visibility().takeWrittenSinceVisible() && !lane.isDown()) {
                lane.visibility().ask(request);
            }
        }
    }

    // ---- watchdog, figures and end ----

    /** A lane that has work and makes no progress, or null. */
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
