package io.sluice.reactor.blocks;

import reactor.core.publisher.Mono;

/** A block that the peer has lent. The peer does not change it until it is returned. */
public final class ReceivedBlock {
    private final BlockLeases leases;
    private final long id;
    private final byte[] description;

    ReceivedBlock(BlockLeases leases, long id, byte[] description) {
        this.leases = leases;
        this.id = id;
        this.description = description;
    }

    /**
     * Returns the lender's description of the block, such as its location.
     *
     * @return a copy
     */
    public byte[] description() {
        return description.clone();
    }

    /**
     * Returns the block after use. Call this only when nothing touches the block any more: after a cancelled, timed out
     * or failed transfer wait for {@link io.sluice.reactor.ReactiveConnection#quiesced()}.
     *
     * @return completes when the lender's engine holds the message; errors as for {@link
     *     io.sluice.reactor.ReactiveConnection#notify(byte[])}, after which it can be tried again. If the leases have
     *     ended, the error that ended them: the lender has the block back already. If the block was returned before,
     *     completes immediately
     */
    public Mono<Void> acknowledge() {
        return leases.giveBack(id, LeaseMessage.Type.ACKNOWLEDGE);
    }

    /**
     * Returns the block unused, like {@link #acknowledge()}.
     *
     * @return as for {@link #acknowledge()}
     */
    public Mono<Void> release() {
        return leases.giveBack(id, LeaseMessage.Type.RELEASE);
    }
}
