package io.sluice.samples.compare;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How busy processes keep their processors, as the system counts it, until it is closed. It counts the middle half of the
 * time: a program that warms up before it measures does the same then, and is neither starting nor ending.
 */
final class ProcessorWatch implements AutoCloseable {
    private static final Duration INTERVAL = Duration.ofMillis(100);

    /** The system counts in ticks of 10 ms: of less time it tells nothing. */
    private static final long LEAST_NANOS = Duration.ofMillis(500).toNanos();

    private static final int QUARTERS = 4;

    private final Map<ToolProcess, List<Sample>> samples = new LinkedHashMap<>();
    private final Thread thread =
            Thread.ofPlatform().daemon().name("processor-watch").unstarted(this::run);

    /** Processor time until a moment, both in nanoseconds. */
    private record Sample(long at, long used) {}

    private ProcessorWatch(List<ToolProcess> processes) {
        processes.forEach(process -> samples.put(process, new ArrayList<>()));
    }

    /** Of these, from now on. */
    static ProcessorWatch of(ToolProcess... processes) {
        ProcessorWatch watch = new ProcessorWatch(List.of(processes));
        watch.thread.start();
        return watch;
    }

    private void run() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                sample();
                Thread.sleep(INTERVAL);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void sample() {
        samples.forEach((process, taken) ->
                taken.add(new Sample(System.nanoTime(), process.processorTime().toNanos())));
    }

    /** How many processors a process kept busy; {@code null} if it was watched for too short a time. */
    synchronized @Nullable Double processorsOf(ToolProcess process) {
        List<Sample> taken = samples.getOrDefault(process, List.of());
        if (taken.isEmpty()) {
            return null;
        }
        Sample first = taken.get(taken.size() / QUARTERS);
        Sample last = taken.get(taken.size() - 1 - taken.size() / QUARTERS);
        long time = last.at - first.at;
        return time < LEAST_NANOS ? null : Double.valueOf((double) (last.used - first.used) / time);
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
