package io.sluice.directory;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The state that a watch has read and the state that it has reported, and so the events due: at most one for each name,
 * one snapshot and one interruption, however many changes there were.
 */
final class WatchedNames {
    /** The value of a name: an entry, or an unreadable one. */
    record State(@Nullable EngineEntry entry, @Nullable DirectoryFormatException damage) {
        static State of(String name, byte[] head) {
            try {
                return new State(EntryHead.fromBytes(name, head).entry(), null);
            } catch (DirectoryFormatException e) {
                return new State(null, e);
            }
        }

        boolean isLike(@Nullable State other) {
            if (other == null) {
                return false;
            }
            return entry == null ? other.entry == null : entry.equals(other.entry);
        }
    }

    private final SortedMap<String, State> known = new TreeMap<>();
    private final SortedMap<String, State> told = new TreeMap<>();
    private final LinkedHashSet<String> changed = new LinkedHashSet<>();
    private boolean isSnapshotDue;
    private @Nullable DirectoryUnavailableException interruption;

    /** All names were read for the first time since the watch was established. */
    synchronized void snapshot(Map<String, State> everything) {
        known.clear();
        known.putAll(everything);
        changed.clear();
        isSnapshotDue = true;
    }

    /** All names were read again. */
    synchronized void reconcile(Map<String, State> everything) {
        Set<String> names = new LinkedHashSet<>(known.keySet());
        names.addAll(everything.keySet());
        names.forEach(name -> update(name, everything.get(name)));
    }

    /** One name was read. */
    synchronized void update(String name, @Nullable State state) {
        State before = state == null ? known.remove(name) : known.put(name, state);
        if (state == null ? before != null : !state.isLike(before)) {
            changed.add(name);
        }
    }

    synchronized void interrupt(DirectoryUnavailableException cause) {
        interruption = cause;
        isSnapshotDue = false;
    }

    /** Returns the next event and marks it as reported. */
    synchronized @Nullable DirectoryEvent next() {
        if (interruption != null) {
            DirectoryEvent event = new DirectoryEvent.Interrupted(interruption);
            interruption = null;
            return event;
        }
        if (isSnapshotDue) {
            isSnapshotDue = false;
            return tellAll();
        }
        while (!changed.isEmpty()) {
            String name = changed.removeFirst();
            DirectoryEvent event = tell(name, known.get(name));
            if (event != null) {
                return event;
            }
        }
        return null;
    }

    private DirectoryEvent tellAll() {
        told.clear();
        changed.clear();
        List<EngineEntry> entries = new ArrayList<>(known.size());
        known.forEach((name, state) -> {
            if (state.entry() == null) {
                changed.add(name);
            } else {
                entries.add(state.entry());
                told.put(name, state);
            }
        });
        return new DirectoryEvent.Snapshot(entries);
    }

    /** Returns null if the name is back to its reported state. */
    private @Nullable DirectoryEvent tell(String name, @Nullable State now) {
        State before = now == null ? told.remove(name) : told.put(name, now);
        EngineEntry previous = before == null ? null : before.entry();
        if (now == null) {
            return previous == null ? null : new DirectoryEvent.Removed(previous);
        }
        if (now.isLike(before)) {
            return null;
        }
        if (now.entry() == null) {
            return new DirectoryEvent.Damaged(
                    name, now.damage() == null ? new DirectoryFormatException("unreadable") : now.damage());
        }
        return previous == null
                ? new DirectoryEvent.Published(now.entry())
                : new DirectoryEvent.Changed(now.entry(), previous);
    }
}
