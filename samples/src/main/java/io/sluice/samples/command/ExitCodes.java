package io.sluice.samples.command;

/** The program's exit statuses, which picocli uses for the same conditions, too. */
final class ExitCodes {
    /** All went well. */
    static final int OK = 0;

    /** It was tried and went wrong. */
    static final int FAILED = 1;

    /** The command line, the trace or a size makes no sense. */
    static final int USAGE = 2;

    private ExitCodes() {}
}
