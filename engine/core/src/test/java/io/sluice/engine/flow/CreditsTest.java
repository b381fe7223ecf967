package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CreditsTest {
    private static final int ROUNDS = Extent.of(50_000, 200_000);
    private static final int MOST_BYTES = 600;

    @Test
    void whatLacksOneKindTakesNothingOfTheOther() {
        Credits credits = new Credits(2, 100);
        assertThat(credits.tryTake(1, 101)).isEqualTo(Credits.REFUSED);
        assertThat(credits.tryTake(3, 1)).isEqualTo(Credits.REFUSED);
        assertThat(credits.operations()).isZero();
        assertThat(credits.bytes()).isZero();
        assertThat(credits.tryTake(2, 100)).isNotEqualTo(Credits.REFUSED);
        assertThat(credits.operations()).isEqualTo(2);
        assertThat(credits.bytes()).isEqualTo(100);
        assertThat(credits.tryTake(1, 0)).isEqualTo(Credits.REFUSED);
        assertThat(credits.tryTake(0, 1)).isEqualTo(Credits.REFUSED);
        credits.giveBack(0, 100);
        assertThat(credits.operations()).as("each kind comes back by itself").isEqualTo(2);
        assertThat(credits.bytes()).isZero();
        credits.giveBack(2, 0);
        assertThat(credits.operations()).isZero();
    }

    @Test
    void theLargestLimitsCanBeTakenWholeAndGivenBackByTheByte() {
        Credits credits = new Credits(Credits.MOST_OPERATIONS, Credits.MOST_BYTES);
        long inFlight = credits.tryTake(Credits.MOST_OPERATIONS, Credits.MOST_BYTES);
        assertThat(inFlight).isPositive();
        credits.seen(inFlight);
        assertThat(credits.operations()).isEqualTo(Credits.MOST_OPERATIONS).isEqualTo(credits.maxOperations());
        assertThat(credits.bytes()).isEqualTo(Credits.MOST_BYTES).isEqualTo(credits.maxBytes());
        assertThat(credits.tryTake(1, 0)).isEqualTo(Credits.REFUSED);
        assertThat(credits.tryTake(0, 1)).isEqualTo(Credits.REFUSED);
        assertThat(credits.tryTake(0, Long.MAX_VALUE)).isEqualTo(Credits.REFUSED);
        assertThat(credits.tryTake(Integer.MAX_VALUE, 0)).isEqualTo(Credits.REFUSED);
        credits.giveBack(0, 1);
        assertThat(credits.operations()).isEqualTo(Credits.MOST_OPERATIONS);
        assertThat(credits.bytes()).isEqualTo(Credits.MOST_BYTES - 1);
        credits.giveBack(Credits.MOST_OPERATIONS, Credits.MOST_BYTES - 1);
        assertThat(credits.operations()).isZero();
        assertThat(credits.bytes()).isZero();
    }

    @Test
    void theMostSeenIsOfEachKindAndOnlyOfWhatWasSaidToBeSeen() {
        Credits credits = new Credits(10, 1000);
        credits.seen(credits.tryTake(3, 10));
        credits.giveBack(3, 10);
        credits.seen(credits.tryTake(1, 900));
        credits.giveBack(1, 900);
        credits.tryTake(9, 950);
        assertThat(credits.maxOperations()).isEqualTo(3);
        assertThat(credits.maxBytes()).isEqualTo(900);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 0", "-1, 1", "1, -1", "2097153, 1", "1, 1099511627777"})
    void limitsThatDoNotFit(int operations, long bytes) {
        assertThatIllegalArgumentException().isThrownBy(() -> new Credits(operations, bytes));
    }

    @Test
    void threadsTogetherNeverHaveMoreThanTheLimitsAndLoseNothing() {
        // at times the one is what is short, at times the other
        Credits credits = new Credits(3, MOST_BYTES);
        AtomicLong operations = new AtomicLong();
        AtomicLong bytes = new AtomicLong();
        AtomicLong broken = new AtomicLong();
        CountDownLatch done = new CountDownLatch(4);
        for (int thread = 0; thread < 4; thread++) {
            int mine = 100 * (thread + 1);
            Thread.ofPlatform().daemon().start(() -> {
                for (int round = 0; round < ROUNDS; round++) {
                    long inFlight = credits.tryTake(1, mine);
                    if (inFlight != Credits.REFUSED) {
                        credits.seen(inFlight);
                        if (operations.incrementAndGet() > 3 || bytes.addAndGet(mine) > MOST_BYTES) {
                            broken.incrementAndGet();
                        }
                        operations.decrementAndGet();
                        bytes.addAndGet(-mine);
                        credits.giveBack(1, mine);
                    }
                }
                done.countDown();
            });
        }
        Patience.await(done);
        assertThat(broken).hasValue(0);
        assertThat(credits.operations()).isZero();
        assertThat(credits.bytes()).isZero();
        assertThat(credits.maxOperations()).isBetween(1, 3);
        assertThat(credits.maxBytes()).isBetween(1L, (long) MOST_BYTES);
    }
}
