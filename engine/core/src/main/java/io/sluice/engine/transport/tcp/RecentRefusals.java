package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.CompletionStatus;
import java.util.ArrayDeque;

/** A lane's latest refusals of the peer's writes: the frames that report them are lost if the lane breaks. */
final class RecentRefusals {
    private final ArrayDeque<LaneFence.Refusal> refusals = new ArrayDeque<>();
    private long knownAfter;

    void add(long count, CompletionStatus status) {
        if (refusals.size() == LaneFence.MOST_REFUSALS) {
            knownAfter = refusals.removeFirst().count();
        }
        refusals.addLast(new LaneFence.Refusal(count, status));
    }

    /** The report of a lane that has handled so many writes. */
    LaneFence fence(int lane, long handled) {
        return new LaneFence(lane, handled, knownAfter, refusals);
    }
}
