package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.RegisteredMemory;

/**
 * The registration of memory that is the user's own, which peers reach by its address. The leases of its exposures keep it from
 * them once it ends.
 *
 * @param address its address in this process
 */
record ForeignMemory(long address) implements RegisteredMemory {}
