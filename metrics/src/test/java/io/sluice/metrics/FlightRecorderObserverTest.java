package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionOptions;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real recordings of real engines. */
class FlightRecorderObserverTest {
    private static final int BYTES = 4096;

    @TempDir
    private Path folder;

    @Test
    void whatHappensSeldomIsRecorded() throws Exception {
        List<RecordedEvent> events;
        try (Recording recording = new Recording()) {
            recording.start();
            try (LinkedEngines engines = LinkedEngines.open(options -> options.observer(new FlightRecorderObserver())
                    .slowTransfer(Duration.ofNanos(1))
                    .stallThreshold(Duration.ofMillis(5)))) {
                engines.source().allocate(BYTES, RegionOptions.local().named("pages"));
                engines.write(1, BYTES);
                long stallsBefore = stalls(engines);
                engines.writeAndRun(() -> Patience.pause(Duration.ofMillis(50)));
                Awaitility.await().atMost(Patience.BOUND).until(() -> stalls(engines) > stallsBefore);
            }
            events = stop(recording);
        }

        RecordedEvent slow = first(events, "io.sluice.SlowTransfer");
        assertThat(slow.getString("operation")).isEqualTo("write");
        assertThat(slow.getString("transport")).isEqualTo("tcp");
        assertThat(slow.getLong("bytes")).isEqualTo(BYTES);
        assertThat(slow.getDuration("took")).isPositive();
        assertThat(slow.getDuration("waited")).isLessThanOrEqualTo(slow.getDuration("took"));
        assertThat(slow.getString("errorKind")).isNull();
        assertThat(slow.getString("peer")).hasSize(32);

        RecordedEvent stalled = first(events, "io.sluice.PollerStalled");
        assertThat(stalled.getInt("poller")).isZero();
        assertThat(stalled.getDuration("took")).isGreaterThan(Duration.ofMillis(5));

        assertThat(all(events, "io.sluice.ConnectionState"))
                .extracting(event -> event.getString("state"))
                .containsSubsequence("open", "closed");

        assertThat(all(events, "io.sluice.Region"))
                .filteredOn(event -> "pages".equals(event.getString("name")))
                .extracting(event -> event.getString("change"))
                .containsExactly("opened", "closed");
        assertThat(first(events, "io.sluice.Region").getLong("length")).isPositive();
        assertThat(events.getFirst().getEventType().getLabel()).isNotBlank();
    }

    @Test
    void whatIsSwitchedOffIsNotRecorded() throws Exception {
        List<RecordedEvent> events;
        try (Recording recording = new Recording()) {
            recording.disable("io.sluice.Region");
            recording.start();
            try (LinkedEngines engines = LinkedEngines.open(
                    options -> options.observer(new FlightRecorderObserver()).slowTransfer(Duration.ofHours(1)))) {
                engines.write(1, BYTES);
            }
            events = stop(recording);
        }
        assertThat(all(events, "io.sluice.Region")).isEmpty();
        assertThat(all(events, "io.sluice.ConnectionState")).isNotEmpty();
        assertThat(all(events, "io.sluice.SlowTransfer"))
                .as("none takes an hour")
                .isEmpty();
    }

    private static long stalls(LinkedEngines engines) {
        return engines.source().metrics().pollers().getFirst().stalls();
    }

    private List<RecordedEvent> stop(Recording recording) throws IOException {
        recording.stop();
        Path file = folder.resolve("recording.jfr");
        recording.dump(file);
        // a file has them thread by thread
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("io.sluice."))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
    }

    private static RecordedEvent first(List<RecordedEvent> events, String name) {
        List<RecordedEvent> found = all(events, name);
        assertThat(found).as(name).isNotEmpty();
        return found.getFirst();
    }

    private static List<RecordedEvent> all(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList();
    }
}
