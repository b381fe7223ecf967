package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import java.util.List;

/** The objects that a process holds on its devices: descriptors, and with the software adapter each kind of object. */
final class Resources {
    private static final List<String> OBJECTS = List.of(
            "contexts",
            "domains",
            "regions",
            "region_bytes",
            "completion_queues",
            "channels",
            "receive_queues",
            "queue_pairs");

    private final int descriptors;
    private final List<Long> objects;

    private Resources(int descriptors, List<Long> objects) {
        this.descriptors = descriptors;
        this.objects = objects;
    }

    static Resources now() {
        return new Resources(OpenDescriptors.count(), objects());
    }

    private static List<Long> objects() {
        if (!TestDevices.areInThisProcess()) {
            return List.of();
        }
        SoftAdapter adapter = SoftAdapter.get();
        return OBJECTS.stream().map(adapter::counter).toList();
    }

    /** All that has come since is gone soon. */
    void assertSettled() {
        OpenDescriptors.assertSettleAt(descriptors);
        try {
            Patience.until(
                    "the adapter's objects are given back", () -> objects().equals(objects));
        } catch (AssertionError e) {
            assertThat(objects()).as("%s", OBJECTS).isEqualTo(objects);
        }
    }
}
