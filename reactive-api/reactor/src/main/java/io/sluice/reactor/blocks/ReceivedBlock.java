package io.sluice.reactor.blocks;

import reactor.core.publisher.Mono;

/** A block that the peer has lent. It stays as it is until it is given back. */
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
     * What the lender has said of the block: where it lies, say.
     *
     * @return a copy
     */
    public byte[] description() {
        return description.clone();
    }

    /**
     * Gives the block back, used. Call it only when nothing touches the block any more: after a cancelled, timed out or failed
     * transfer wait for {@link io.sluice.reactor.ReactiveConnection#quiesced()}.
     *
     * @return completes when the lender's engine holds the message; errors as for
     *     {@link io.sluice.reactor.ReactiveConnection#notify(byte[])}, after which it can be tried again; when the leases
     *     have ended, what ended them: the lender has the block back already. If it was given back before, completes at once
     */
    public Mono<Void> acknowledge() {
        return leases.giveBack(id, LeaseMessage.Type.ACKNOWLEDGE);
    }

    /**
     * Gives the block back, unused; as {@link #acknowledge()}.
     *
     * @return as there
     */
    public Mono<Void> release() {
        return leases.giveBack(id, LeaseMessage.Type.RELEASE);
    }
}
