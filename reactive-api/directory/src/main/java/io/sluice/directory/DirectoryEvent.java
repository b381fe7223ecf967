package io.sluice.directory;

import java.util.List;

/** An event of a watch. */
public sealed interface DirectoryEvent {
    /**
     * All current entries. The first event, and again whenever an interrupted watch is back: entries that are missing
     * here were removed.
     *
     * @param entries sorted by name
     */
    record Snapshot(List<EngineEntry> entries) implements DirectoryEvent {
        /** Copies the entries. */
        public Snapshot {
            entries = List.copyOf(entries);
        }
    }

    /**
     * A name was published.
     *
     * @param entry the new entry
     */
    record Published(EngineEntry entry) implements DirectoryEvent {}

    /**
     * An entry has changed.
     *
     * @param entry the current entry
     * @param previous the entry last reported by this watch
     */
    record Changed(EngineEntry entry, EngineEntry previous) implements DirectoryEvent {
        /**
         * Returns whether the name now belongs to another engine or epoch.
         *
         * @return false if only the regions or the address have changed
         */
        public boolean isRestart() {
            return !entry.isSameRun(previous);
        }
    }

    /**
     * A name was removed: withdrawn, or its lease expired.
     *
     * @param previous the entry last reported by this watch
     */
    record Removed(EngineEntry previous) implements DirectoryEvent {}

    /**
     * The value of a name cannot be read; other names are not affected. If it was reported before, consider it removed.
     *
     * @param name the name
     * @param cause the defect
     */
    record Damaged(String name, DirectoryFormatException cause) implements DirectoryEvent {}

    /**
     * The directory does not answer. Earlier events may be out of date; a {@link Snapshot} will follow.
     *
     * @param cause the reason
     */
    record Interrupted(DirectoryUnavailableException cause) implements DirectoryEvent {}
}
