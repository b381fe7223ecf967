package io.sluice.engine.transport;

import io.sluice.engine.MemoryKind;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * The operations of a transport on memory, by kind. A region is registered with each transport that can register its
 * kind.
 *
 * @param register the kinds that peers can be given access to by {@link Transport#register}
 * @param allocate the kinds that {@link Transport#allocate} allocates, each of which can be registered
 * @param access the kinds that may be the local side of a transfer: read from by a write, written to by a read
 * @param imports the kinds of the peer's memory that this side reaches by itself, without the peer's processor
 */
public record MemorySupport(
        Set<MemoryKind> register, Set<MemoryKind> allocate, Set<MemoryKind> access, Set<MemoryKind> imports) {
    /** The support of a transport for host memory that allocates none. */
    public static final MemorySupport HOST =
            new MemorySupport(Set.of(MemoryKind.HOST), Set.of(), Set.of(MemoryKind.HOST), Set.of());

    /**
     * Copies the sets.
     *
     * @throws IllegalArgumentException if a kind is allocated and not registered
     */
    public MemorySupport {
        if (!register.containsAll(allocate)) {
            throw new IllegalArgumentException("allocates " + allocate + ", and registers only " + register);
        }
        register = copy(register);
        allocate = copy(allocate);
        access = copy(access);
        imports = copy(imports);
    }

    private static Set<MemoryKind> copy(Set<MemoryKind> kinds) {
        Set<MemoryKind> copied = EnumSet.noneOf(MemoryKind.class);
        copied.addAll(kinds);
        return Collections.unmodifiableSet(copied);
    }
}
