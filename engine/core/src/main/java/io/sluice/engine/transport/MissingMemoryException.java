package io.sluice.engine.transport;

/** Part of the memory is missing: it belongs to a mapped file that was truncated, or for which the disk has no room. */
public final class MissingMemoryException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    MissingMemoryException() {
        super("part of the memory is missing: it belongs to a mapped file that was truncated");
    }
}
