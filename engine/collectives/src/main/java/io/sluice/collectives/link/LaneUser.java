package io.sluice.collectives.link;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** What runs on a link. Called on the team's loop; a call must not send. */
public interface LaneUser {
    /** Called when a message has arrived, or a slot may be free, that was waited for. */
    void laneReady(Link lane);

    /** Called when the peer cannot be reached any more. */
    void laneFailed(Link lane, SluiceException error);

    /** Called when a peer cannot be woken any more. */
    void peerFailed(int peer, SluiceException error);

    /** Called once for each message sent that does not {@linkplain Link#sendsAtOnce() end at once}, when its source may be changed, with the slot that it was sent to. */
    void sendEnded(Link lane, int slot, @Nullable SluiceException error);
}
