package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A program of ours from its start to its end.
 *
 * @param task what it does
 * @param cached whether it starts with an AOT cache
 */
record ProgramStart(StartTask task, boolean cached) implements Subject {

    @Override
    public String name() {
        return (cached ? "aot-" : "") + task.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Sockets for a transfer; what makes none has no need of a route, and any may be taken. */
    @Override
    public Route route() {
        return Route.TCP;
    }

    @Override
    public @Nullable String unavailable() {
        return cached ? StartCommand.AotCache.unavailable() : null;
    }

    @Override
    public String transport() {
        return task == StartTask.FIRST_TRANSFER ? route().transport() : "none";
    }

    @Override
    public String doing() {
        return "start";
    }

    @Override
    public long size() {
        return 0;
    }

    @Override
    public int inflight() {
        return 0;
    }

    @Override
    public Measurement measurement(Api api) {
        return new ProgramStarts(task, cached);
    }
}
