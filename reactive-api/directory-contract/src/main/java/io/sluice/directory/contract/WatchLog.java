package io.sluice.directory.contract;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryEvent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import reactor.core.Disposable;

/** What a watch has told. */
final class WatchLog implements AutoCloseable {
    private final List<DirectoryEvent> events = new CopyOnWriteArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final Disposable subscription;

    WatchLog(Directory directory, String prefix) {
        subscription = directory.watch(prefix).subscribe(events::add, errors::add);
    }

    /** How many events there are: a place to wait from. */
    int size() {
        return events.size();
    }

    List<DirectoryEvent> events() {
        return List.copyOf(events);
    }

    <T extends DirectoryEvent> T await(int from, Class<T> type, Predicate<T> condition) {
        Awaitility.await("a " + type.getSimpleName())
                .atMost(Bounds.PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .failFast("the watch has ended: " + errors, () -> !errors.isEmpty())
                .until(() -> find(from, type, condition).isPresent());
        return find(from, type, condition).orElseThrow();
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
