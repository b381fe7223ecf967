package io.sluice.samples.bench;

/** A measurement cannot be made or did not end; the message is for the user. */
public final class BenchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean usage;

    private BenchException(boolean usage, String message) {
        super(message);
        this.usage = usage;
    }

    /** What was asked for does not go with the serving side. */
    static BenchException usage(String message) {
        return new BenchException(true, message);
    }

    /** It was tried and went wrong. */
    static BenchException failed(String message) {
        return new BenchException(false, message);
    }

    /** Whether another command line would do. */
    public boolean isUsage() {
        return usage;
    }
}
