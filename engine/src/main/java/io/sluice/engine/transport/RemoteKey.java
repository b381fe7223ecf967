package io.sluice.engine.transport;

/**
 * What an initiator presents to reach an attached region.
 *
 * @param handle the target's number for the attachment
 * @param key the descriptor's key
 * @param epoch the target's epoch
 */
public record RemoteKey(long handle, long key, long epoch) {}
