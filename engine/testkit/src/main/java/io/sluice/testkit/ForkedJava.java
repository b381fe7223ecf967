package io.sluice.testkit;

import java.util.List;

/** The virtual machines of the processes that tests start. */
public final class ForkedJava {
    private ForkedJava() {}

    /**
     * Options with which they start fast: the compiler for hot code would cost more than it gains.
     *
     * @return options for the command line of java
     */
    public static List<String> startOptions() {
        return List.of(System.getProperty("sluice.test.java-options", "-XX:TieredStopAtLevel=1")
                .strip()
                .split(" +"));
    }
}
