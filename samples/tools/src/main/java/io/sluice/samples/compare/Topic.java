package io.sluice.samples.compare;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The topics of comparisons. Each comparison has one. */
enum Topic {
    /** 8 bytes and 4 KiB over sockets. */
    SMALL("small transfers over tcp", SocketComparisons.small()),
    /** 64 KiB and more over sockets. */
    LARGE("large transfers over tcp", SocketComparisons.large()),
    VECTORED("vectored transfers over tcp", SocketComparisons.vectored()),
    ROUND_TRIPS("one transfer at a time over tcp", SocketComparisons.roundTrips()),
    SHARED_MEMORY("transfers over shared memory", MemoryComparisons.all()),
    /** Teams of ranks on this machine. */
    COLLECTIVES("collectives between ranks", CollectiveComparisons.all()),
    /** Dispatch and combine. */
    EXPERTS("dispatch and combine of experts", ExpertComparisons.all()),
    /** Between processes that have GPUs, or one and memory of the host. */
    GPU("transfers between GPUs", GpuComparisons.all()),
    /** Of two GPUs, a process each. */
    GPU_COLLECTIVES("collectives between GPUs", GpuCollectiveComparisons.all()),
    /** The same of dispatch and combine. */
    GPU_EXPERTS("dispatch and combine of experts between GPUs", GpuExpertComparisons.all()),
    /** The overhead of Reactor and Vert.x over callbacks. */
    INTERFACES("what the interfaces cost", CostComparisons.interfaces()),
    METRICS("what metrics cost", CostComparisons.metrics()),
    SECURITY_COST("what authentication and encryption cost", CostComparisons.security()),
    INTEGRITY("what checksums cost", CostComparisons.integrity()),
    PROCESSORS("processor time of both sides", CostComparisons.processors()),
    SCALE("many connections, many elements, connecting", ScaleComparisons.all()),
    START("starting", CostComparisons.starts());

    private final String description;
    private final List<Comparison> comparisons;

    Topic(String description, List<Comparison> comparisons) {
        this.description = description;
        this.comparisons = List.copyOf(comparisons);
    }

    String description() {
        return description;
    }

    /** The description of the one of a name; the name itself if there is none. */
    static String describe(String name) {
        return Arrays.stream(values())
                .filter(topic -> topic.toString().equals(name))
                .map(Topic::description)
                .findFirst()
                .orElse(name);
    }

    List<Comparison> comparisons() {
        return comparisons;
    }

    static Topic of(Comparison comparison) {
        for (Topic topic : values()) {
            if (topic.comparisons.contains(comparison)) {
                return topic;
            }
        }
        throw new IllegalArgumentException(comparison.name() + " is about nothing");
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
