package io.sluice.testkit;

import java.util.zip.CRC32C;

/**
 * How much slower this machine is than an idle one with two processors, measured when a test process first waits. Two threads
 * do a fixed amount of work, so that an emulated processor counts as well as one that other programs keep busy.
 */
final class Slowness {
    private static final double MOST = 5;
    /** What the work takes on the machine that the bounds were chosen on. */
    private static final long EXPECTED_NANOS = 20_000_000;

    /** From 1, as on an idle machine, to 5; {@code sluice.test.slowness} sets it. */
    static final double FACTOR = factor();

    private Slowness() {}

    private static double factor() {
        String set = System.getProperty("sluice.test.slowness", "").strip();
        double measured = set.isEmpty() ? (double) measure() / EXPECTED_NANOS : Double.parseDouble(set);
        double factor = Math.clamp(measured, 1, MOST);
        System.out.printf("Waits are bounded by %.1f times their usual bounds.%n", factor);
        return factor;
    }

    private static long measure() {
        // of a class of its own, as this one waits for the thread in its initializer
        Thread other = Thread.ofPlatform().daemon().unstarted(new Work());
        long start = System.nanoTime();
        other.start();
        new Work().run();
        try {
            other.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return System.nanoTime() - start;
    }

    /** An intrinsic even of the interpreter, so that what the JVM has compiled by now does not count. */
    private static final class Work implements Runnable {
        private static final int PIECE = 1 << 20;
        private static final int PIECES = 512;

        @Override
        public void run() {
            byte[] bytes = new byte[PIECE];
            CRC32C checksum = new CRC32C();
            for (int piece = 0; piece < PIECES; piece++) {
                checksum.update(bytes, 0, bytes.length);
            }
        }
    }
}
