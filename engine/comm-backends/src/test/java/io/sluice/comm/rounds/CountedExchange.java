package io.sluice.comm.rounds;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Exchanges nothing: it counts how often it is opened and closed, and ends with errors where a test asks for them. */
final class CountedExchange implements Exchange {
    static final int TERMS_BYTES = 1;

    private static final int AREA_BYTES = 4096;

    final AtomicInteger opened = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();
    final CountDownLatch failed = new CountDownLatch(1);
    private final MemorySegment area = Arena.ofAuto().allocate(AREA_BYTES, Long.BYTES);
    private final RuntimeException inTerms;
    private final RuntimeException inRounds;

    /**
     * Creates one.
     *
     * @param inTerms what asking for its terms throws, or null
     * @param inRounds what a round throws, or null
     */
    CountedExchange(RuntimeException inTerms, RuntimeException inRounds) {
        this.inTerms = inTerms;
        this.inRounds = inRounds;
    }

    @Override
    public byte[] terms() {
        if (inTerms != null) {
            throw inTerms;
        }
        return new byte[TERMS_BYTES];
    }

    @Override
    public void check(List<byte[]> all) {}

    @Override
    public void open(Check check) {
        opened.incrementAndGet();
    }

    @Override
    public String description() {
        return "nothing";
    }

    @Override
    public int areaBytes() {
        return AREA_BYTES;
    }

    @Override
    public MemorySegment outgoing(int rank) {
        return area;
    }

    @Override
    public MemorySegment incoming(int rank) {
        return area;
    }

    @Override
    public void start(int offset, int[] sends, int[] receives) {}

    @Override
    public boolean isDone() {
        if (inRounds != null) {
            failed.countDown();
            throw inRounds;
        }
        return false;
    }

    @Override
    public void close(boolean isFailed) {
        closed.incrementAndGet();
    }

    @Override
    public String consequence() {
        return " Create another one.";
    }
}
