package io.sluice.samples.command;

import org.jspecify.annotations.Nullable;

/** The version of this program. */
final class ProgramVersion {

    private static final String NOT_PACKAGED = "development";

    private ProgramVersion() {}

    /** What the jar's manifest says. */
    static String current() {
        @Nullable String version = ProgramVersion.class.getPackage().getImplementationVersion();
        return version == null ? NOT_PACKAGED : version;
    }
}
