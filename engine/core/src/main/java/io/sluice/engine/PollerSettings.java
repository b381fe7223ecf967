package io.sluice.engine;

import static io.sluice.engine.EngineSettings.between;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The part of {@link EngineOptions.Builder} for the engine's threads and what it reports. */
abstract sealed class PollerSettings permits ConnectionSettings {
    private static final int MAX_NAME_CHARACTERS = 64;

    final EngineSettings settings;

    PollerSettings(EngineSettings settings) {
        this.settings = settings;
    }

    abstract EngineOptions.Builder self();

    /**
     * Distinguishes the engine's figures from those of other engines of the process. Default: none; figures
     * then show the first digits of the engine's identity; {@code SLUICE_NAME}.
     *
     * @param name 1 to 64 printable characters
     * @return this
     */
    public EngineOptions.Builder name(String name) {
        int length = name.codePointCount(0, name.length());
        if (length < 1 || length > MAX_NAME_CHARACTERS || !name.codePoints().allMatch(PollerSettings::isPrintable)) {
            throw new IllegalArgumentException(
                    "name has 1 to " + MAX_NAME_CHARACTERS + " printable characters; this one does not");
        }
        settings.name = name;
        return self();
    }

    private static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /**
     * Poller threads; each connection is served by one. Default 1; {@code SLUICE_POLLERS}.
     *
     * @param count 1 to 256
     * @return this
     */
    public EngineOptions.Builder pollers(int count) {
        settings.pollers = between("pollers", count, 1, 256);
        return self();
    }

    /**
     * How long an idle poller spins before it yields. On a single processor it also yields from time to time while it
     * spins. With neither spinning nor yielding, it parks as soon as there is no work. Default 50 µs;
     * {@code SLUICE_SPIN}.
     *
     * @param time zero or more
     * @return this
     */
    public EngineOptions.Builder spin(Duration time) {
        settings.spin = between("spin", time, Duration.ZERO, Duration.ofDays(1));
        return self();
    }

    /**
     * How long an idle poller yields, after it has spun, before it parks in the kernel. Default 1 ms;
     * {@code SLUICE_YIELD}.
     *
     * @param time zero or more
     * @return this
     */
    public EngineOptions.Builder yield(Duration time) {
        settings.yield = between("yield", time, Duration.ZERO, Duration.ofDays(1));
        return self();
    }

    /**
     * A poller's duty cycle that takes longer than this is reported: a callback blocked or worked too long, code was
     * loaded, or the thread had no processor. The log says how long it ran, waited and had none. Default
     * 200 ms; {@code SLUICE_STALL_THRESHOLD}.
     *
     * @param time 1 ms or more
     * @return this
     */
    public EngineOptions.Builder stallThreshold(Duration time) {
        settings.stallThreshold = between("stallThreshold", time, Duration.ofMillis(1), Duration.ofHours(1));
        return self();
    }

    /**
     * The threshold for slow transfers: {@link EngineObserver#slowTransfer} is called when such a transfer ends,
     * with any outcome. A transfer that the calling thread executes itself, on shm, is reported only if it is
     * timed ({@link TransportMetrics#duration}). Default 1 s; {@code SLUICE_SLOW_TRANSFER}.
     *
     * @param time more than zero, up to a day
     * @return this
     */
    public EngineOptions.Builder slowTransfer(Duration time) {
        settings.slowTransfer = between("slowTransfer", time, Duration.ofNanos(1), Duration.ofDays(1));
        return self();
    }

    /**
     * Adds an observer of rare events. Default: none, which costs nothing.
     *
     * @param observer called from the time the engine opens
     * @return this
     */
    public EngineOptions.Builder observer(EngineObserver observer) {
        List<EngineObserver> all = new ArrayList<>(settings.observers);
        all.add(Objects.requireNonNull(observer, "observer"));
        settings.observers = List.copyOf(all);
        return self();
    }
}
