package io.sluice.engine;

import java.util.List;

/** The virtual machines of the processes that tests start. */
public final class ForkedJava {
    private ForkedJava() {}

    /** More options for them, where those that the tests were written for start them too slowly. */
    public static List<String> moreOptions() {
        String options = System.getProperty("sluice.test.java-options", "").strip();
        return options.isEmpty() ? List.of() : List.of(options.split(" +"));
    }
}
