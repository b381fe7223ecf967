package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.RegisteredMemory;

/**
 * The registration of memory owned by the user, which peers reach by address. The leases of its exports revoke their
 * access when the registration ends.
 *
 * @param address its address in this process
 */
record ForeignMemory(long address) implements RegisteredMemory {}
