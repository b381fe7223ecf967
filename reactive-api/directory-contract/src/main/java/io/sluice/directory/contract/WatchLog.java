package io.sluice.directory.contract;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryEvent;
import io.sluice.directory.EngineEntry;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import reactor.core.Disposable;

/** The events of a watch. */
final class WatchLog implements AutoCloseable {
    private final List<DirectoryEvent> events = new CopyOnWriteArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final Disposable subscription;

    WatchLog(Directory directory, String prefix) {
        subscription = directory.watch(prefix).subscribe(events::add, errors::add);
    }

    /** The number of events so far: a position to wait from. */
    int size() {
        return events.size();
    }

    List<DirectoryEvent> events() {
        return List.copyOf(events);
    }

    <T extends DirectoryEvent> T await(int from, Class<T> type, Predicate<T> condition) {
        Awaitility.await("a " + type.getSimpleName())
                .atMost(Patience.BOUND)
                .pollInterval(Duration.ofMillis(20))
                .failFast("the watch has ended: " + errors, () -> !errors.isEmpty())
                .until(() -> find(from, type, condition).isPresent());
        return find(from, type, condition).orElseThrow();
    }

    /** Waits until the events say that the name exists. */
    void awaitPresent(String name, Predicate<EngineEntry> condition) {
        awaitState(
                "an entry '" + name + "'",
                () -> Optional.ofNullable(present().get(name)).filter(condition).isPresent());
    }

    /** Waits until the name is gone, by an event or from the snapshot after an interruption. */
    void awaitAbsent(String name) {
        awaitState("no entry '" + name + "'", () -> !present().containsKey(name));
    }

    private void awaitState(String what, Callable<Boolean> condition) {
        try {
            Awaitility.await(what)
                    .atMost(Patience.BOUND)
                    .pollInterval(Duration.ofMillis(20))
                    .failFast("the watch has ended: " + errors, () -> !errors.isEmpty())
                    .until(condition);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("the watch has not reported " + what + ", but this: " + events, e);
        }
    }

    /** The entries that exist according to the events. */
    private Map<String, EngineEntry> present() {
        Map<String, EngineEntry> present = new HashMap<>();
        for (DirectoryEvent event : events) {
            switch (event) {
                case DirectoryEvent.Snapshot snapshot -> {
                    present.clear();
                    snapshot.entries().forEach(entry -> present.put(entry.name(), entry));
                }
                case DirectoryEvent.Published published ->
                    present.put(published.entry().name(), published.entry());
                case DirectoryEvent.Changed changed ->
                    present.put(changed.entry().name(), changed.entry());
                case DirectoryEvent.Removed removed ->
                    present.remove(removed.previous().name());
                case DirectoryEvent.Damaged damaged -> present.remove(damaged.name());
                case DirectoryEvent.Interrupted ignored -> {
                    // reported entries stay valid until the next snapshot
                }
            }
        }
        return present;
    }

    private <T extends DirectoryEvent> Optional<T> find(int from, Class<T> type, Predicate<T> condition) {
        return events.stream()
                .skip(from)
                .filter(type::isInstance)
                .map(type::cast)
                .filter(condition)
                .findFirst();
    }

    @Override
    public void close() {
        subscription.dispose();
    }
}
