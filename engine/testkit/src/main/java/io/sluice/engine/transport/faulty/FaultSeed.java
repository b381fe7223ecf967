package io.sluice.engine.transport.faulty;

/** The seed of the connections that are opened next. The system property {@code sluice.test.fault-seed} sets it. */
final class FaultSeed {
    private static final long DEFAULT = 20_251_122L;

    private static volatile long current = Long.getLong("sluice.test.fault-seed", DEFAULT);

    private FaultSeed() {}

    /** A seed for one test, which is printed so that the test can be had again. */
    static void begin(String test) {
        Long given = Long.getLong("sluice.test.fault-seed");
        current = given == null ? DEFAULT + test.hashCode() : given;
        System.out.println(test + ": -Dsluice.test.fault-seed=" + current);
    }

    static void set(long seed) {
        current = seed;
    }

    static long current() {
        return current;
    }
}
