package io.sluice.engine.contract;

import java.util.Locale;
import java.util.Random;

/**
 * How much work the suite does. Every profile runs the same tests; a slow machine takes {@code small}, a night run
 * {@code large} (also called {@code soak}), in which slow transports do a tenth of the transfers. Chosen by the system
 * property {@code sluice.test.profile}.
 */
enum ContractProfile {
    SMALL(100, 3_000, 2_000, 10, 100, 4_000, 64L << 20, 4L << 20),
    VARIANT(200, 10_000, 2_000, 5, 100, 4_000, 64L << 20, 4L << 20),
    STANDARD(200, 10_000, 2_000, 5, 100, 4_000, (4L << 30) + 4096, 1L << 28),
    LARGE(10_000, 5_000_000, 1_000_000, 1_000, 20_000, 1_000_000, (8L << 30) + 4096, 1L << 30),
    LARGE_ON_SLOW(10_000, 500_000, 100_000, 1_000, 5_000, 100_000, (8L << 30) + 4096, 1L << 30);

    private static final long DEFAULT_SEED = 20_240_229L;

    private final int transfersInFlight;
    private final int chainedWritesToSelf;
    private final int chainedWritesToPeer;
    private final int quiescenceRounds;
    private final int orderRounds;
    private final int smallTransfers;
    private final long hugeTransferBytes;
    private final long passingRegionBytes;

    ContractProfile(
            int transfersInFlight,
            int chainedWritesToSelf,
            int chainedWritesToPeer,
            int quiescenceRounds,
            int orderRounds,
            int smallTransfers,
            long hugeTransferBytes,
            long passingRegionBytes) {
        this.transfersInFlight = transfersInFlight;
        this.chainedWritesToSelf = chainedWritesToSelf;
        this.chainedWritesToPeer = chainedWritesToPeer;
        this.quiescenceRounds = quiescenceRounds;
        this.orderRounds = orderRounds;
        this.smallTransfers = smallTransfers;
        this.hugeTransferBytes = hugeTransferBytes;
        this.passingRegionBytes = passingRegionBytes;
    }

    /**
     * That of this run; for a variant with less volume, unless it is large: what a variant adds is order and races. A slow
     * transport has fewer transfers if it is large, so that each test takes minutes at most.
     */
    static ContractProfile of(TransportUnderTest transport) {
        ContractProfile current = current();
        if (current == LARGE && transport.isSlow()) {
            return LARGE_ON_SLOW;
        }
        return transport.isVariant() && current == STANDARD ? VARIANT : current;
    }

    private static ContractProfile current() {
        String name = System.getProperty("sluice.test.profile", "standard").strip();
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "small" -> SMALL;
            case "standard", "" -> STANDARD;
            case "large", "soak" -> LARGE;
            default ->
                throw new IllegalArgumentException(
                        "sluice.test.profile is small, standard or large (soak), not '" + name + "'");
        };
    }

    /** Whether this is one of the long runs. */
    boolean isLarge() {
        return this == LARGE || this == LARGE_ON_SLOW;
    }

    int transfersInFlight() {
        return transfersInFlight;
    }

    int chainedWritesToSelf() {
        return chainedWritesToSelf;
    }

    int chainedWritesToPeer() {
        return chainedWritesToPeer;
    }

    int quiescenceRounds() {
        return quiescenceRounds;
    }

    int orderRounds() {
        return orderRounds;
    }

    int smallTransfers() {
        return smallTransfers;
    }

    /** How many regions are served at once. */
    int manyRegions() {
        return this == VARIANT ? 250 : 1_000;
    }

    /** How many checksums are asked for at once. */
    int manyChecksums() {
        return this == VARIANT ? 5 : 20;
    }

    /** The size of regions that come and go; some transports lock them in memory. */
    long passingRegionBytes() {
        return passingRegionBytes;
    }

    long hugeTransferBytes() {
        return hugeTransferBytes;
    }

    /** The size of regions of which every byte that a transfer moves is compared. */
    long comparedBytes() {
        return Math.min(8 << 20, hugeTransferBytes / 32);
    }

    /** How many transfers of them are compared. */
    int comparedRounds() {
        return this == SMALL ? 5 : Math.min(40, orderRounds / 10);
    }

    /** The same numbers at every run, with the seed in the log, so that a failure is reproducible. */
    static Random random(String test) {
        long seed = Long.getLong("sluice.test.seed", DEFAULT_SEED);
        System.out.println(test + ": -Dsluice.test.seed=" + seed);
        return new Random(seed ^ test.hashCode());
    }
}
