package io.sluice.samples.cluster;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What was moved from one peer. As JSON its fields are in snake case.
 *
 * @param peer its name
 * @param moves that have ended well
 * @param blocks that they moved
 * @param bytes that they moved
 */
public record PeerTraffic(
        @JsonProperty("peer") String peer,
        @JsonProperty("moves") long moves,
        @JsonProperty("blocks") long blocks,
        @JsonProperty("bytes") long bytes) {

    PeerTraffic plus(long moreBlocks, long moreBytes) {
        return new PeerTraffic(peer, moves + 1, blocks + moreBlocks, bytes + moreBytes);
    }
}
