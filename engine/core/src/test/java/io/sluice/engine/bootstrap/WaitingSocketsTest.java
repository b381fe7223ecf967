package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingSocketsTest {
    private final WaitingSockets waiting = new WaitingSockets(4);

    @Test
    void whoHasMostGivesWay() {
        for (int descriptor = 1; descriptor <= 4; descriptor++) {
            assertThat(waiting.add(1, descriptor)).isEqualTo(WaitingSockets.NONE);
        }
        assertThat(waiting.add(1, 5)).isEqualTo(5);
        assertThat(waiting.add(2, 6)).isEqualTo(4);
        assertThat(waiting.add(2, 7)).isEqualTo(3);
        assertThat(waiting.hasOf(2)).isTrue();
    }

    @Test
    void oneOfEachSourceInTurn() {
        waiting.add(1, 1);
        waiting.add(1, 2);
        waiting.add(2, 3);
        List<Integer> taken = new ArrayList<>();
        waiting.offer((source, descriptor) -> descriptor != 2 && taken.add(descriptor));
        assertThat(taken).containsExactly(1, 3);
        assertThat(waiting.isEmpty()).isFalse();
        waiting.offer((source, descriptor) -> taken.add(descriptor));
        assertThat(taken).containsExactly(1, 3, 2);
        assertThat(waiting.isEmpty()).isTrue();
        assertThat(waiting.dropOne()).isEqualTo(WaitingSockets.NONE);
    }
}
