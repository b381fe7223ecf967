package io.sluice.samples.trace;

/**
 * What a generated trace looks like.
 *
 * @param requests number of requests, at least 1
 * @param seed equal options and seeds give equal traces
 * @param maxInputTokens longest input, in tokens
 * @param requestsPerSecond mean arrival rate by the trace's own clock
 */
public record GeneratedTraceOptions(long requests, long seed, int maxInputTokens, double requestsPerSecond) {

    /** The longest input of the conversations that the generator imitates, in tokens. */
    public static final int DEFAULT_MAX_INPUT_TOKENS = 126_195;

    /** The arrival rate of the conversations that the generator imitates: 12,031 in an hour. */
    public static final double DEFAULT_REQUESTS_PER_SECOND = 3.4;

    /** Checks the ranges. */
    public GeneratedTraceOptions {
        if (requests < 1) {
            throw new IllegalArgumentException("a generated trace needs at least one request: " + requests);
        }
        if (maxInputTokens < 1 || maxInputTokens > RequestParser.MAX_TOKENS) {
            throw new IllegalArgumentException("the longest input must have between 1 and " + RequestParser.MAX_TOKENS
                    + " tokens: " + maxInputTokens);
        }
        if (!(requestsPerSecond > 0) || requestsPerSecond > 1e6) {
            throw new IllegalArgumentException(
                    "requests per second must be above 0 and at most 1,000,000: " + requestsPerSecond);
        }
    }

    /** A trace of the given number of requests with the default arrival rate and input lengths. */
    public static GeneratedTraceOptions ofRequests(long requests) {
        return new GeneratedTraceOptions(requests, 1, DEFAULT_MAX_INPUT_TOKENS, DEFAULT_REQUESTS_PER_SECOND);
    }

    /** These options with another seed. */
    public GeneratedTraceOptions withSeed(long newSeed) {
        return new GeneratedTraceOptions(requests, newSeed, maxInputTokens, requestsPerSecond);
    }

    /** These options with another longest input, in tokens. */
    public GeneratedTraceOptions withMaxInputTokens(int newMaxInputTokens) {
        return new GeneratedTraceOptions(requests, seed, newMaxInputTokens, requestsPerSecond);
    }

    /** These options with another mean arrival rate. */
    public GeneratedTraceOptions withRequestsPerSecond(double newRequestsPerSecond) {
        return new GeneratedTraceOptions(requests, seed, maxInputTokens, newRequestsPerSecond);
    }
}
