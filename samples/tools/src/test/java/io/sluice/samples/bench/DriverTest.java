package io.sluice.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A driver with transfers that end in the caller's thread, on a poller, or here and there. */
class DriverTest {

    private static final int SLOTS = 8;
    private static final int KINDS = 5;

    /** Chained one in the callback of the other, so many would overflow any stack. */
    private static final long MANY = 200_000;

    private static final long LONG_NANOS = TimeUnit.HOURS.toNanos(1);

    private final ExecutorService poller = Executors.newSingleThreadExecutor();
    private final ExecutorService beginners = Executors.newCachedThreadPool();
    private final List<String> problems = new ArrayList<>();
    private final AtomicBoolean submitting = new AtomicBoolean();
    private long submissions;
    private long reported;
    private final int[] perKind = new int[KINDS];

    @AfterEach
    void endThreads() throws InterruptedException {
        poller.shutdownNow();
        beginners.shutdownNow();
        assertThat(poller.awaitTermination(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                .isTrue();
    }

    /** How a transfer ends: within the call that starts it, or later on the poller. */
    private enum End {
        WITHIN,
        LATER
    }

    private interface Ends {
        End of(long number);
    }

    /** Notices if two threads use it at a time. */
    private Submission submission(Ends ends) {
        return new Submission() {
            @Override
            public void submit(Slot slot, int transfer) {
                if (!submitting.compareAndSet(false, true)) {
                    problems.add("called while it was called");
                }
                long number = submissions++;
                perKind[transfer]++;
                // From here on the next one may be started.
                submitting.set(false);
                if (ends.of(number) == End.WITHIN) {
                    slot.onComplete();
                } else {
                    poller.execute(slot::onComplete);
                }
            }

            @Override
            public void ended(Slot slot) {
                reported++;
            }
        };
    }

    private Driver driver(Submission submission) {
        return new Driver(submission, SLOTS, KINDS, true);
    }

    private void round(Driver driver, long budget, long nanos) throws Exception {
        driver.prepare(budget, nanos);
        beginners.execute(driver::run);
        driver.ended().get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void assertSound(Driver driver, long budget) {
        assertThat(problems).isEmpty();
        assertThat(driver.submitted()).isEqualTo(budget);
        assertThat(driver.transfers()).isEqualTo(budget);
        assertThat(driver.succeeded()).isEqualTo(budget);
        assertThat(driver.latencies().getTotalCount()).isBetween(budget / 7, budget / 7 + SLOTS);
        assertThat(reported).isEqualTo(submissions);
        assertThat(driver.errors()).isZero();
        assertThat(driver.firstError()).isNull();
    }

    @Test
    void transfersThatEndWithinTheCallDoNotDeepenTheStack() throws Exception {
        Driver driver = driver(submission(number -> End.WITHIN));
        round(driver, MANY, LONG_NANOS);
        assertSound(driver, MANY);
        assertThat(perKind).containsOnly((int) (MANY / KINDS));
    }

    @Test
    void transfersThatEndOnThePollerAreGoneOnWithThere() throws Exception {
        List<Thread> submitters = new ArrayList<>();
        Submission remembering = (slot, transfer) -> {
            Thread current = Thread.currentThread();
            if (submitters.isEmpty() || !submitters.getLast().equals(current)) {
                submitters.add(current);
            }
            poller.execute(slot::onComplete);
        };
        Driver driver = driver(remembering);
        round(driver, 1000, LONG_NANOS);
        assertThat(driver.transfers()).isEqualTo(1000);
        assertThat(driver.latencies().getTotalCount()).isEqualTo(1000);
        assertThat(driver.mostOutstanding()).isEqualTo(SLOTS);
        // The thread that has begun the round, and the poller from the first completion on.
        assertThat(submitters).hasSize(2);
    }

    @Test
    void transfersThatEndHereAndThereAreDrivenByOneThread() throws Exception {
        Driver driver = driver(submission(number -> number % 3 == 1 ? End.LATER : End.WITHIN));
        round(driver, MANY, LONG_NANOS);
        assertSound(driver, MANY);
        assertThat(perKind).containsOnly((int) (MANY / KINDS));
    }

    @Test
    void allOfWhatGoesOneByOneIsTimed() throws Exception {
        Driver driver = new Driver(submission(number -> End.WITHIN), 1, KINDS, true);
        round(driver, 1000, LONG_NANOS);
        assertThat(driver.latencies().getTotalCount()).isEqualTo(1000);
    }

    @Test
    void roundsFollowEachOtherWhereverTheyAreDriven() throws Exception {
        Driver driver = driver(submission(number -> number % 7 < 3 ? End.LATER : End.WITHIN));
        for (int round = 1; round <= 500; round++) {
            driver.reset();
            round(driver, round % 11, LONG_NANOS);
            assertThat(driver.transfers()).isEqualTo(round % 11);
        }
        assertThat(problems).isEmpty();
        assertThat(reported).isEqualTo(submissions);
    }

    @Test
    void theTimeEndsARound() throws Exception {
        Driver driver = driver(submission(number -> End.WITHIN));
        round(driver, Long.MAX_VALUE, TimeUnit.MILLISECONDS.toNanos(20));
        assertThat(driver.endedAt() - driver.startedAt()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(20));
        assertThat(driver.transfers()).isEqualTo(driver.submitted()).isGreaterThanOrEqualTo(SLOTS);
    }

    @Test
    void aTimeThatIsOverAtOnceLeavesEachSlotItsTurnBesideTheOthers() throws Exception {
        Driver driver = driver(submission(number -> End.LATER));
        round(driver, Long.MAX_VALUE, 1);
        assertThat(driver.submitted()).isEqualTo(1 + SLOTS);
        assertThat(driver.transfers()).isEqualTo(1 + SLOTS);
    }

    @Test
    void aSubmissionThatThrowsEndsTheRound() throws Exception {
        for (int failing : new int[] {0, 1, SLOTS, 1000}) {
            submissions = 0;
            Submission working = submission(number -> End.WITHIN);
            Driver driver = driver((slot, transfer) -> {
                if (submissions == failing) {
                    throw new IllegalStateException("number " + failing);
                }
                working.submit(slot, transfer);
            });
            round(driver, MANY, LONG_NANOS);
            assertThat(driver.isStopped()).isTrue();
            assertThat(driver.errors()).isEqualTo(1);
            assertThat(driver.firstError()).hasMessage("number " + failing);
            assertThat(driver.transfers()).isEqualTo(failing);
            assertThat(driver.succeeded()).isEqualTo(failing);
        }
    }

    @Test
    void whatIsStoppedEnds() throws Exception {
        Driver driver = driver(submission(number -> End.WITHIN));
        driver.prepare(Long.MAX_VALUE, LONG_NANOS);
        beginners.execute(driver::run);
        driver.stop();
        driver.ended().get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
        assertThat(problems).isEmpty();
    }

    @Test
    void whatEndsBeforeItCountsAndAfterTheTimeIsOverDoesNotCount() throws Exception {
        for (End end : End.values()) {
            submissions = 0;
            AtomicReference<Driver> counting = new AtomicReference<>();
            Submission inner = submission(number -> end);
            Submission telling = new Submission() {
                @Override
                public void submit(Slot slot, int transfer) {
                    if (submissions == 1000) {
                        counting.get().count();
                    }
                    inner.submit(slot, transfer);
                }

                @Override
                public void ended(Slot slot) {
                    inner.ended(slot);
                }
            };
            Driver driver = driver(telling);
            counting.set(driver);
            driver.prepareWarming(TimeUnit.MILLISECONDS.toNanos(20));
            beginners.execute(driver::run);
            driver.ended().get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);

            assertThat(driver.counted()).isCompleted();
            assertThat(problems).isEmpty();
            assertThat(driver.endedAt() - driver.startedAt()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(20));
            // Some of the first thousand may end after it has begun to count, and as many are left when the time is
            // over.
            assertThat(driver.transfers())
                    .isEqualTo(driver.succeeded())
                    .isBetween((long) SLOTS, driver.submitted() - 1000 + SLOTS);
        }
    }

    @Test
    void aWarmUpThatFailsEnds() throws Exception {
        Driver driver = driver((slot, transfer) -> {
            throw new IllegalStateException("always");
        });
        driver.prepareWarming(LONG_NANOS);
        beginners.execute(driver::run);
        driver.ended().get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
        assertThat(driver.counted()).isCompleted();
        assertThat(driver.errors()).isEqualTo(1);
        assertThat(driver.transfers()).isZero();
    }
}
