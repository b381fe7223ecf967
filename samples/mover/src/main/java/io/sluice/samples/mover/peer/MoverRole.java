package io.sluice.samples.mover.peer;

import java.util.Locale;

/** What a mover's process does in the service of a model. */
public enum MoverRole {
    /** Computes blocks; others fetch them, or it sends them. */
    PREFILL,
    /** Needs blocks that others have computed. */
    DECODE;

    /** How it is written in requests and answers. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What the names of all movers of this role begin with in the directory. */
    public String prefix() {
        return text() + "/";
    }
}
