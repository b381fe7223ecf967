package io.sluice.engine;

/**
 * Executes the atomic operations and signals on a region's words. Operations of one domain are atomic among
 * themselves, and not towards those of the other: so a region declares one, and operations of the other are refused.
 */
public enum AtomicDomain {
    /**
     * The processors of the region's host: operations of peers come by message and are carried out by the engine. They
     * are atomic towards each other, on any connection and transport, and towards {@link Signal#add} and
     * other atomic instructions of the host's own code. Every transport offers this domain.
     */
    TARGET_CPU,
    /**
     * One network adapter of the region's host. They are atomic towards other operations through that adapter alone: the
     * host's own code may read the words, not change them. A signal wakes who waits for it there; a fetch-and-add or
     * compare-and-swap does not. Offered by verbs where the target's first adapter can; on other transports such operations
     * are refused.
     */
    NETWORK_ADAPTER
}
