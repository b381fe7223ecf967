package io.sluice.engine;

/**
 * The executor of atomic operations and signals on the words of a region. Operations are atomic only with respect to
 * others of the same domain, so a region declares one domain and operations of the other are refused.
 */
public enum AtomicDomain {
    /**
     * The processors of the region's host: the engine executes the operations that peers request. They are atomic with
     * respect to each other, on any connection and transport, and to {@link Signal#add} and other atomic instructions
     * of the host's code. Every transport offers this domain.
     */
    TARGET_CPU,
    /**
     * One network adapter of the region's host. Operations are atomic only with respect to others through the same
     * adapter: the host's code may read the words but must not change them. A signal wakes its waiters at the target; a
     * fetch-and-add or compare-and-swap does not. verbs offers this domain if the target's first adapter supports it;
     * other transports refuse such operations.
     */
    NETWORK_ADAPTER
}
