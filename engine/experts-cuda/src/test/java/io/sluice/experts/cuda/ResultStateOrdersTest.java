package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testkit.EveryOrder;
import io.sluice.testkit.EveryOrder.Actor;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A result is closed and taken between the steps of calls that are started and refused. */
class ResultStateOrdersTest {
    /** A dispatch in halves, of which one start each is refused first. */
    private static final class Halves implements EveryOrder.Scenario {
        final ResultState state = new ResultState();
        final long generation = state.take();
        int phase;
        boolean isStarted;
        boolean isClosed;
        boolean isReceived;
        long taken;

        boolean beginSend() {
            try {
                phase = state.beginDispatch(generation);
                return true;
            } catch (IllegalStateException e) {
                assertThat(isClosed).isTrue();
                return false;
            }
        }

        boolean refuse() {
            state.settle(phase);
            return true;
        }

        boolean sent() {
            state.settle(ResultState.DISPATCH_SENT);
            isStarted = true;
            return true;
        }

        boolean beginReceive() {
            state.beginReceive(generation, ResultState.DISPATCH_SENT);
            phase = ResultState.DISPATCH_SENT;
            return true;
        }

        boolean received() {
            state.settle(ResultState.DISPATCHED);
            isReceived = true;
            return true;
        }

        boolean close() {
            state.close(generation);
            isClosed = true;
            return true;
        }

        boolean take() {
            if (taken == 0) {
                taken = state.take();
                assertThat(taken == 0 || (isClosed && (!isStarted || isReceived)))
                        .isTrue();
            }
            return true;
        }

        @Override
        public List<Actor> actors() {
            return List.of(
                    Actor.of(
                            "calls",
                            this::beginSend,
                            this::refuse,
                            this::beginSend,
                            this::sent,
                            this::beginReceive,
                            this::refuse,
                            this::beginReceive,
                            this::received),
                    Actor.of("closes", this::close, this::close),
                    Actor.of("takes", this::take, this::take));
        }

        @Override
        public void checkEnd() {
            take();
            assertThat(taken).isEqualTo(generation + 1);
            close();
            assertThat(state.isLive(taken)).isTrue();
            assertThatThrownBy(() -> state.beginDispatch(generation))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
        }
    }

    @Test
    void memory_is_free_once_it_is_closed_and_no_second_half_is_to_come() {
        assertThat(EveryOrder.runAll(Halves::new)).isGreaterThan(100);
    }
}
