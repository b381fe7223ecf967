package io.sluice.engine.transport.shm;

import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program in which one thread falls asleep again and again, at the very moment at which another has something for it. It
 * prints in how many rounds neither saw the other, which must not be, and in how many rounds they met. Its arguments are the
 * meeting, how often the two are to meet, and after how many milliseconds it ends all the same, as one processor is too few.
 */
final class SleepersAndWakers {
    /** The output's first character. */
    static final char ANSWER = '=';

    // the compiler for hot code is done with it after so many
    private static final int ROUNDS_TO_COMPILE = 20_000;
    private static final int LONGEST_DELAY = 30;
    private static final int SPINS = 2_000;
    // more than the caches next to a processor hold
    private static final int FAR_WORDS = 4 << 20;
    private static final int FAR_WRITES = 8;

    /** The pairs of threads that meet; each says whether it has seen the other. */
    enum Meeting {
        /** The consumer falls asleep, and the producer has a message. */
        MESSAGE {
            @Override
            boolean fallsAsleep(ControlSegment.Direction direction, long round) {
                direction.parked(true);
                return direction.produced() == round;
            }

            @Override
            boolean wakes(ControlSegment.Direction direction, long round) {
                direction.produced(round);
                return direction.takeParked();
            }

            @Override
            void isAwake(ControlSegment.Direction direction) {
                direction.parked(false);
            }
        },

        /** The producer falls asleep, and the consumer has made room. */
        ROOM {
            @Override
            boolean fallsAsleep(ControlSegment.Direction direction, long round) {
                direction.starved(true);
                return direction.consumed() == round;
            }

            @Override
            boolean wakes(ControlSegment.Direction direction, long round) {
                direction.consumed(round);
                return direction.takeStarved();
            }

            @Override
            void isAwake(ControlSegment.Direction direction) {
                direction.starved(false);
            }
        };

        abstract boolean fallsAsleep(ControlSegment.Direction direction, long round);

        abstract boolean wakes(ControlSegment.Direction direction, long round);

        /** After the round. */
        abstract void isAwake(ControlSegment.Direction direction);
    }

    private final Meeting meeting;
    private final ControlSegment.Direction sleepers;
    private final ControlSegment.Direction wakers;
    private final long[] far = new long[FAR_WORDS];
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private volatile boolean over;
    private boolean seenBySleeper;
    private long missed;
    private long met;

    private SleepersAndWakers(Meeting meeting, ControlSegment sleepers, ControlSegment wakers) {
        this.meeting = meeting;
        this.sleepers = sleepers.direction(true);
        this.wakers = wakers.direction(true);
    }

    public static void main(String[] arguments) {
        Meeting meeting = Meeting.valueOf(arguments[0]);
        long enough = Long.parseLong(arguments[1]);
        long nanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[2]));
        ControlSegment.Made both = ControlSegment.make();
        ControlSegment mapped = ControlSegment.of(both.descriptor());
        Sockets.close(both.descriptor());
        try (ControlSegment made = both.segment();
                mapped) {
            SleepersAndWakers rounds = new SleepersAndWakers(meeting, mapped, made);
            rounds.compile();
            rounds.meet(enough, nanos);
            System.out.println("%c%d %d".formatted(ANSWER, rounds.missed, rounds.met));
        }
    }

    /** One part after the other, until they are compiled. */
    private void compile() {
        SplittableRandom random = new SplittableRandom(3);
        for (long round = 1; round <= ROUNDS_TO_COMPILE; round++) {
            if (random.nextBoolean()) {
                sleeps(random, round);
                wakes(random, round);
            } else {
                wakes(random, round);
                sleeps(random, round);
            }
            meeting.isAwake(sleepers);
        }
        begun.set(ROUNDS_TO_COMPILE);
        ended.set(ROUNDS_TO_COMPILE);
    }

    /** Both do their part of each round at once. */
    private void meet(long enough, long nanos) {
        Thread sleeper = Thread.ofPlatform().daemon().start(this::sleepAgainAndAgain);
        SplittableRandom random = new SplittableRandom(1);
        long end = System.nanoTime() + nanos;
        long round = ROUNDS_TO_COMPILE + 1;
        for (; met < enough && System.nanoTime() < end; round++) {
            begun.set(round);
            boolean seen = wakes(random, round);
            if (awaitAtOnce(ended, round)) {
                met++;
            }
            if (!seen && !seenBySleeper) {
                missed++;
            }
            meeting.isAwake(sleepers);
        }
        over = true;
        begun.set(round);
        Patience.join(sleeper);
    }

    private void sleepAgainAndAgain() {
        SplittableRandom random = new SplittableRandom(2);
        for (long round = ROUNDS_TO_COMPILE + 1; ; round++) {
            awaitAtOnce(begun, round);
            if (over) {
                return;
            }
            seenBySleeper = sleeps(random, round);
            ended.set(round);
        }
    }

    private boolean sleeps(SplittableRandom random, long round) {
        delay(random);
        return meeting.fallsAsleep(sleepers, round);
    }

    private boolean wakes(SplittableRandom random, long round) {
        delay(random);
        // as the bytes of a message: what is written after them waits for them, and what is read after them does not
        for (int i = 0; i < FAR_WRITES; i++) {
            far[random.nextInt(FAR_WORDS)] = round;
        }
        return meeting.wakes(wakers, round);
    }

    private static void delay(SplittableRandom random) {
        for (int i = random.nextInt(LONGEST_DELAY); i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    /** Waits for a count; whether it came so soon that the other thread must be running. */
    private static boolean awaitAtOnce(AtomicLong count, long round) {
        boolean atOnce = true;
        for (int spins = 1; count.get() < round; spins++) {
            Thread.onSpinWait();
            if (spins % SPINS == 0) {
                // on a busy machine the other may need this very processor
                Thread.yield();
                atOnce = false;
            }
        }
        return atOnce;
    }
}
