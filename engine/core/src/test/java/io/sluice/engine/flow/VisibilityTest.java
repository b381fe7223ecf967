package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.transport.Capabilities;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests ordered after writes are sent once the writes of all paths are visible, also where a path only acknowledges them. */
class VisibilityTest {
    private final SteppedFlow.HeldRequests visible = new SteppedFlow.HeldRequests();
    private final SteppedFlow.AcknowledgedRequests acknowledged = new SteppedFlow.AcknowledgedRequests();
    private final WriteGroups groups = new WriteGroups(Visibility.between(List.of(path(visible), path(acknowledged))));
    private int reached;

    private static FlowPath path(SteppedFlow.HeldRequests endpoint) {
        return new FlowPath(0, new Capabilities(1 << 20, true), endpoint, ConnectionCounters.alone());
    }

    private WriteGroup followed() {
        WriteGroup group = groups.enter();
        assertThat(groups.close(() -> reached++)).isSameAs(group);
        return group;
    }

    @Test
    void followerGoesWhenTheWritesOfAllPathsAreVisible() {
        acknowledged.holdsVisibility = true;
        groups.leave(followed());
        assertThat(reached).isZero();
        groups.release();
        assertThat(groups.followers()).hasSize(1);
        acknowledged.makeAllVisible();
        assertThat(reached).isOne();
        assertThat(groups.followers()).isEmpty();
    }

    @Test
    void answerOfAnEarlierUseOfAGroupMeansNothing() {
        acknowledged.holdsVisibility = true;
        WriteGroup group = followed();
        int use = group.use();
        groups.leave(group);
        group.dropFollower();
        groups.release();
        group.becameVisible(use);
        assertThat(group.isVisible()).isFalse();
        group.becameVisible(group.use());
        assertThat(group.isVisible()).isTrue();
    }

    @Test
    void nothingIsWaitedForAfterTheEnd() {
        acknowledged.holdsVisibility = true;
        groups.leave(followed());
        groups.connectionEnded();
        groups.release();
        assertThat(reached).isOne();
    }

    @Test
    void aSignalRidesInNoWriteWhereOtherPathsMayBeBehind() {
        WriteGroup group = groups.enter();
        assertThat(groups.isNextAlone(group)).isFalse();
        WriteGroups ofOnePath = new WriteGroups(Visibility.between(List.of(path(acknowledged))));
        assertThat(ofOnePath.isNextAlone(ofOnePath.enter())).isTrue();
        WriteGroups ofVisible = new WriteGroups(Visibility.between(List.of(path(visible), path(visible))));
        assertThat(ofVisible.isNextAlone(ofVisible.enter())).isTrue();
    }
}
