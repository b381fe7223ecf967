package io.sluice.samples.compare;

import java.util.List;

/** What a program does that is started only to see how long it takes. */
enum StartTask {
    /** A virtual machine that runs one small class. */
    HELLO("a bare JVM's hello") {
        @Override
        List<String> arguments(int port) {
            return List.of();
        }
    },
    /** {@code sluice info}. */
    INFO("sluice info") {
        @Override
        List<String> arguments(int port) {
            return List.of("info");
        }
    },
    /** An engine, a connection, a write of 8 bytes through Reactor, and the end of all that. */
    FIRST_TRANSFER("a program's first write over tcp") {
        @Override
        List<String> arguments(int port) {
            return List.of(Integer.toString(port), "kv");
        }
    };

    private final String description;

    StartTask(String description) {
        this.description = description;
    }

    /** The program's arguments, where the port is one that a process serves at if the task needs it. */
    abstract List<String> arguments(int port);

    /** For messages. */
    String description() {
        return description;
    }
}
