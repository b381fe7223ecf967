package io.sluice.directory;

import java.util.List;

/** An event of a watch. */
public sealed interface DirectoryEvent {
    /**
     * All that is there. It comes first, and again whenever the watch was lost and is back: what was known before and is
     * not in it is gone.
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
     * A name has appeared.
     *
     * @param entry of the engine that has it
     */
    record Published(EngineEntry entry) implements DirectoryEvent {}

    /**
     * An entry is another now.
     *
     * @param entry as it is
     * @param previous as this watch last told it
     */
    record Changed(EngineEntry entry, EngineEntry previous) implements DirectoryEvent {
        /**
         * Whether the name belongs to another run, or another engine, now.
         *
         * @return false if only the regions or the address have changed
         */
        public boolean isRestart() {
            return !entry.isSameRun(previous);
        }
    }

    /**
     * A name is gone: withdrawn, or its lease has expired.
     *
     * @param previous as this watch last told it
     */
    record Removed(EngineEntry previous) implements DirectoryEvent {}

    /**
     * What lies under a name cannot be read; the other names are not concerned. If it was told before, take it as removed.
     *
     * @param name the name
     * @param cause what is wrong with it
     */
    record Damaged(String name, DirectoryFormatException cause) implements DirectoryEvent {}

    /**
     * The directory does not answer. Earlier events may be out of date; a {@link Snapshot} will follow.
     *
     * @param cause why
     */
    record Interrupted(DirectoryUnavailableException cause) implements DirectoryEvent {}
}
