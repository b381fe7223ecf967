package io.sluice.samples.bench;

/** A measurement cannot be made or did not end; the message is for the user. */
public final class BenchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean usage;

    private BenchException(boolean usage, String message) {
        super(message);
        this.usage = usage;
    }

    static BenchException usage(String message) {
        return new BenchException(true, message);
    }

    static BenchException failed(String message) {
        return new BenchException(false, message);
    }

    /** Whether another command line would do. */
    public boolean isUsage() {
        return usage;
    }
}
