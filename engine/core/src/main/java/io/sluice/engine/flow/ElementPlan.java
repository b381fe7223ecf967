package io.sluice.engine.flow;

import io.sluice.engine.transport.RemoteKey;

/**
 * An element whose ranges and rights have been checked.
 *
 * @param local the local region
 * @param localOffset from the region's start, in bytes
 * @param remote the remote region
 * @param remoteOffset from the attached slice's start, in bytes
 * @param length in bytes
 */
public record ElementPlan(LeasedMemory local, long localOffset, RemoteKey remote, long remoteOffset, long length) {}
