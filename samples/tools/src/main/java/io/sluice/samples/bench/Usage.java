package io.sluice.samples.bench;

import org.jspecify.annotations.Nullable;

/** What rounds have used: time, processors and heap. Only what lies between {@link #begin} and {@link #end} counts. */
final class Usage {

    private final SideChannel side;
    private final TransferThreads transferThreads = new TransferThreads();
    private long nanos;
    private long cpuNanos;
    private long serverCpuNanos;
    private long allocatedBytes;
    private long transferThreadsBytes;
    private boolean serverSilent;
    private long cpuBefore;
    private long serverBefore;
    private long allocatedBefore;

    Usage(SideChannel side) {
        this.side = side;
    }

    void begin() {
        serverBefore = serverCpu();
        transferThreads.begin();
        cpuBefore = ProcessFigures.cpuNanos();
        allocatedBefore = ProcessFigures.allocatedBytes();
    }

    void end() {
        allocatedBytes += ProcessFigures.allocatedBytes() - allocatedBefore;
        cpuNanos += ProcessFigures.cpuNanos() - cpuBefore;
        transferThreadsBytes += transferThreads.end();
        serverCpuNanos += serverCpu() - serverBefore;
    }

    /** How long the round between took. */
    void add(long roundNanos) {
        nanos += roundNanos;
    }

    private long serverCpu() {
        ServerReport report = side.report();
        if (report == null) {
            serverSilent = true;
            return 0;
        }
        return report.cpuNanos();
    }

    long nanos() {
        return nanos;
    }

    double seconds() {
        return nanos / 1e9;
    }

    double cpuSeconds() {
        return cpuNanos / 1e9;
    }

    @Nullable
    Double serverCpuSeconds() {
        return serverSilent ? null : serverCpuNanos / 1e9;
    }

    /** Of all threads. */
    long allocatedBytes() {
        return allocatedBytes;
    }

    /** Of those that carry transfers. */
    long transferThreadsBytes() {
        return transferThreadsBytes;
    }
}
