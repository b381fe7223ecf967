package io.sluice.testkit;

import java.util.zip.CRC32C;

/**
 * How much slower this machine is than an idle one with two processors, measured when a test process first waits: what two
 * threads get done in a moment, so that an emulated processor counts as well as one that other programs keep busy.
 */
final class Slowness {
    private static final double MOST = 5;
    private static final long MOMENT_NANOS = 30_000_000;
    /** The work of one thread on the machine that the bounds were chosen on. */
    private static final double EXPECTED_PIECES = 45_000;

    /** From 1, as on an idle machine, to 5; {@code sluice.test.slowness} sets it. */
    static final double FACTOR = factor();

    private Slowness() {}

    private static double factor() {
        String set = System.getProperty("sluice.test.slowness", "").strip();
        return Math.clamp(set.isEmpty() ? measure() : Double.parseDouble(set), 1, MOST);
    }

    private static double measure() {
        // of a class of its own, as this one waits for the thread in its initializer
        Work work = new Work();
        Work otherWork = new Work();
        Thread other = Thread.ofPlatform().daemon().unstarted(otherWork);
        other.start();
        work.run();
        try {
            other.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return 2 * EXPECTED_PIECES / Math.max(1, work.pieces + otherWork.pieces);
    }

    /** An intrinsic even of the interpreter, so that what the JVM has compiled by now hardly counts. */
    private static final class Work implements Runnable {
        private static final int PIECE = 32 << 10;

        private long pieces;

        @Override
        public void run() {
            byte[] bytes = new byte[PIECE];
            CRC32C checksum = new CRC32C();
            long end = System.nanoTime() + MOMENT_NANOS;
            while (System.nanoTime() < end) {
                checksum.update(bytes, 0, bytes.length);
                pieces++;
            }
        }
    }
}
