package io.sluice.samples.mover.peer;

import io.sluice.engine.RemoteRegion;

/**
 * A pool of a peer, attached.
 *
 * @param generation which pool of that name it is
 * @param pages the pages' region
 * @param seals the seals' region
 */
public record PeerPool(long generation, RemoteRegion pages, RemoteRegion seals) {}
