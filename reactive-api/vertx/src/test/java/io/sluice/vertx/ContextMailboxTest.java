package io.sluice.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ContextMailboxTest {
    private final HandDrivenContext loop = new HandDrivenContext();
    private final ContextMailbox mailbox = new ContextMailbox(loop);
    private final List<Integer> delivered = new ArrayList<>();

    private void bring(int number, Runnable then) {
        mailbox.deliver(new ContextMailbox.Delivery() {
            @Override
            void deliver() {
                delivered.add(number);
                then.run();
            }
        });
    }

    @Test
    void manyComeByOneTaskInTheirOrder() {
        for (int i = 0; i < 5; i++) {
            bring(i, () -> {});
        }
        assertThat(delivered).isEmpty();
        assertThat(loop.handed()).isEqualTo(1);
        loop.run();
        assertThat(delivered).containsExactly(0, 1, 2, 3, 4);
    }

    @Test
    void whatIsBroughtByADeliveryIsNotHandedOverInside() {
        bring(0, () -> {
            bring(1, () -> {});
            assertThat(delivered).containsExactly(0);
        });
        loop.run();
        assertThat(delivered).containsExactly(0, 1);
        assertThat(loop.handed()).as("the loop was there already").isEqualTo(1);
    }

    @Test
    void aChainGivesTheLoopItsTurn() {
        int links = 400;
        chain(links);
        loop.run();
        assertThat(delivered).hasSize(links);
        assertThat(loop.handed()).isBetween(links / 64, links / 2);
        bring(links, () -> {});
        loop.run();
        assertThat(delivered).endsWith(links);
    }

    @Test
    void manyAtATimeGiveTheLoopItsTurnSooner() {
        int width = 1000;
        for (int i = 0; i < width; i++) {
            bring(i, () -> bring(width, () -> {}));
        }
        loop.run();
        assertThat(delivered).hasSize(2 * width);
        assertThat(loop.handed())
                .as("what they have brought waits behind others")
                .isEqualTo(2);
    }

    private void chain(int links) {
        int number = delivered.size();
        bring(number, () -> {
            if (number + 1 < links) {
                chain(links);
            }
        });
    }

    @Test
    void oneThatThrowsHoldsUpNoOther() {
        bring(0, () -> {});
        bring(1, () -> {
            throw new IllegalStateException("one");
        });
        bring(2, () -> {
            throw new AssertionError("two");
        });
        bring(3, () -> {});
        assertThatThrownBy(loop::run).hasMessage("one");
        assertThat(delivered).containsExactly(0, 1, 2, 3);
        bring(4, () -> {});
        loop.run();
        assertThat(delivered).endsWith(4);
    }

    @Test
    void whereTheContextTakesNoWorkItIsDeliveredAllTheSame() {
        loop.close();
        bring(0, () -> {});
        bring(1, () -> {});
        assertThat(delivered).containsExactly(0, 1);
    }
}
