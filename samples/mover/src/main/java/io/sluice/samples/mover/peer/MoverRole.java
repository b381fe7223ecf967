package io.sluice.samples.mover.peer;

import java.util.Locale;

/** The role of a mover's process in serving a model. */
public enum MoverRole {
    /** Computes blocks; others fetch them, or it sends them. */
    PREFILL,
    /** Needs blocks that others have computed. */
    DECODE;

    /** How it is written in requests and answers. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The prefix of the names of this role's movers in the directory. */
    public String prefix() {
        return text() + "/";
    }
}
