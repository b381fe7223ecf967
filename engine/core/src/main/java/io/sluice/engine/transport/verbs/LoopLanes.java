package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The state that the lanes of one loop share: the batch, the pools, and the lane groups of each rail. Messages of lanes
 * wait for the end of the duty cycle and leave with the work requests of all connections in one native call. Confined
 * to the loop.
 */
final class LoopLanes {
    private final EventLoop loop;
    private final int sendDepth;
    private final int gatherElements;
    private final PostBatch batch = new PostBatch();
    private final ArrayDeque<VerbsMessage> messages = new ArrayDeque<>();
    private final ArrayDeque<AwaitedAnswer> answers = new ArrayDeque<>();
    private final List<List<LaneGroup>> groups = new ArrayList<>();
    private ArrayList<Runnable> due = new ArrayList<>();
    private ArrayList<Runnable> dueSpare = new ArrayList<>();

    LoopLanes(EventLoop loop, List<Rail> rails, int sendDepth, int gatherElements) {
        this.loop = loop;
        this.sendDepth = sendDepth;
        this.gatherElements = gatherElements;
        rails.forEach(rail -> groups.add(new ArrayList<>()));
    }

    EventLoop loop() {
        return loop;
    }

    PostBatch batch() {
        return batch;
    }

    /** Schedules a lane to add its messages before the batch is posted at the end of the duty cycle. */
    void flushLater(Runnable adding) {
        due.add(adding);
    }

    /** At the end of the duty cycle: posts everything; returns how much there was. */
    int flush() {
        int lanes = due.size();
        if (lanes > 0) {
            ArrayList<Runnable> now = due;
            due = dueSpare;
            dueSpare = now;
            // by index: an iterator would allocate
            try {
                for (int i = 0; i < lanes; i++) {
                    now.get(i).run();
                }
            } finally {
                now.clear();
            }
        }
        return lanes + batch.post();
    }

    /** Returns a group on the rail with room for another lane. */
    LaneGroup groupOn(Rail rail) {
        List<LaneGroup> ofRail = groups.get(rail.index());
        for (LaneGroup group : ofRail) {
            if (group.hasRoom()) {
                return group;
            }
        }
        LaneGroup made = new LaneGroup(loop, rail, sendDepth, gatherElements);
        ofRail.add(made);
        return made;
    }

    /** A lane has left a group: one idle group of a rail is kept for the next connection. */
    void left(LaneGroup group) {
        List<LaneGroup> ofRail = groups.get(group.rail().index());
        if (group.isEmpty() && (ofRail.size() > 1 || group.isSpent())) {
            ofRail.remove(group);
            // later, because this may be called while its completions are handled
            loop.execute(group::retire);
        }
    }

    VerbsMessage message(int type, LaneState origin) {
        VerbsMessage pooled = messages.pollFirst();
        return (pooled == null ? new VerbsMessage() : pooled).begin(type, origin);
    }

    void free(VerbsMessage message) {
        if (message.isEntrusted()) {
            message.origin().entrustedDone();
        }
        message.clear();
        messages.addFirst(message);
    }

    AwaitedAnswer answer() {
        AwaitedAnswer pooled = answers.pollFirst();
        return pooled == null ? new AwaitedAnswer() : pooled;
    }

    void free(AwaitedAnswer answer) {
        answer.clear();
        answers.addFirst(answer);
    }

    /** No lane is left. */
    void close() {
        groups.forEach(ofRail -> ofRail.forEach(LaneGroup::close));
        batch.close();
    }
}
