package io.sluice.testkit;

import java.util.List;

/** The virtual machines of the processes that tests start. */
public final class ForkedJava {
    private ForkedJava() {}

    /**
     * Options with which they start fast: the compiler for hot code would cost more than it gains, and figures for jstat
     * cost a thread that wakes up every 50 ms.
     *
     * @return options for the command line of java
     */
    public static List<String> startOptions() {
        return List.of(System.getProperty("sluice.test.java-options", "-XX:TieredStopAtLevel=1 -XX:-UsePerfData")
                .strip()
                .split(" +"));
    }
}
