package io.sluice.experts;

import io.sluice.engine.LatencyHistogram;

/** The figures of a rank for the calls of one kind. Any thread reads. */
public interface ExpertCallMetrics {
    /**
     * Returns the kind.
     *
     * @return the kind
     */
    ExpertCallKind kind();

    /**
     * Returns how many have ended with success.
     *
     * @return a count
     */
    long succeeded();

    /**
     * Returns how many have ended with an error.
     *
     * @return a count
     */
    long failed();

    /**
     * Returns how many vectors those that succeeded have sent: in low latency one for each expert of a token, in normal
     * mode one for each rank of it.
     *
     * @return a count; what stays on this rank is in it
     */
    long tokensSent();

    /**
     * Returns how many vectors those have received, counted as {@link #tokensSent()} does.
     *
     * @return a count
     */
    long tokensReceived();

    /**
     * Returns the bytes of the vectors sent, in the format of the call and with what travels along: scales, choices,
     * weights.
     *
     * @return bytes
     */
    long bytesSent();

    /**
     * Returns the bytes of the vectors received, counted as {@link #bytesSent()} does.
     *
     * @return bytes
     */
    long bytesReceived();

    /**
     * Returns how long those that succeeded took, from the call to the end. The time in which a hook holds a call does not
     * count.
     *
     * @return a snapshot
     */
    LatencyHistogram duration();

    /**
     * Returns the part of all durations, also of those that failed, before the loop took up the call: for earlier calls.
     *
     * @return nanoseconds
     */
    long queuedNanos();

    /**
     * Returns the part in which this rank packed, copied, unpacked or added.
     *
     * @return nanoseconds
     */
    long movingNanos();

    /**
     * Returns the rest: nothing could go on before something of another rank, or before what was sent had arrived.
     *
     * @return nanoseconds
     */
    long waitingNanos();
}
