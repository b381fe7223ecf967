package io.sluice.engine.transport.tcp;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** Flips a bit of a lane's bytes now and then, behind the messages that the lane begins with. */
final class FlippedBits implements AlteringPath.Alterations {
    private final long seed;
    private final int meanGap;
    private final AtomicInteger flipped = new AtomicInteger();
    private volatile boolean armed;

    /** Flips a bit after so many bytes on average. */
    FlippedBits(long seed, int meanGap) {
        this.seed = seed;
        this.meanGap = meanGap;
    }

    /** From now on. */
    void arm() {
        armed = true;
    }

    int flipped() {
        return flipped.get();
    }

    @Override
    public AlteringPath.Alteration of(int socket, boolean towardsTarget) {
        if (socket == 0) {
            return (bytes, count, to) -> to.write(bytes, 0, count);
        }
        Random random = new Random(seed + 2L * socket + (towardsTarget ? 1 : 0));
        return new AlteringPath.Alteration() {
            private long untilFlip = gap(random);

            @Override
            public void pass(byte[] bytes, int count, OutputStream to) throws IOException {
                if (armed) {
                    while (untilFlip < count) {
                        bytes[(int) untilFlip] ^= (byte) (1 << random.nextInt(8));
                        flipped.incrementAndGet();
                        untilFlip += gap(random);
                    }
                    untilFlip -= count;
                }
                to.write(bytes, 0, count);
            }
        };
    }

    private long gap(Random random) {
        return 1 + random.nextInt(2 * meanGap);
    }
}
