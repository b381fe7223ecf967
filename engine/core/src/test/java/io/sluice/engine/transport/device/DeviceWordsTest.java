package io.sluice.engine.transport.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Words that a device changes by itself, without a message: who waits for them is woken all the same. */
class DeviceWordsTest {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    // longer than the longest pause between two looks
    private static final Duration SEVERAL_LOOKS = Duration.ofMillis(50);

    private final TransferEngine engine = TransferEngine.open(PatientOptions.builder()
            .transports(List.of("shm", "tcp", "device"))
            .pollers(1)
            .build());

    @AfterEach
    void close() {
        Patience.await(engine.closeAsync());
    }

    private MemoryRegion ofDevice(long bytes) {
        return engine.allocate(bytes, DeviceMemory.on(RegionOptions.readWrite()));
    }

    /** As a program of the device stores it. */
    private static void store(MemoryRegion region, long offset, long value) {
        MemorySegment contents = DeviceMemory.contents(region);
        WORD.setVolatile(contents, offset, value);
    }

    private EngineLoop loop() {
        Connection connection = Patience.await(engine.connect(engine.address()));
        return connection.loop();
    }

    @Test
    void whatADeviceStoresWakesWhoWaits() {
        MemoryRegion region = ofDevice(4096);
        for (long round = 1; round <= 20; round++) {
            CompletableFuture<Long> wait = region.slice(64, 128).signal(8).awaitAtLeast(round);
            CompletableFuture<Long> other = region.signal(80).awaitAtLeast(round);
            Patience.pause(Duration.ofMillis(round % 5));
            assertThat(wait).isNotDone();
            store(region, 72, round);
            assertThat(Patience.await(wait)).isEqualTo(round);
            assertThat(other).isNotDone();
            other.cancel(false);
        }
    }

    @Test
    void waitsOfALoopAreArmedAgain() {
        MemoryRegion region = ofDevice(64);
        BlockingQueue<Long> seen = new LinkedBlockingQueue<>();
        SignalWait wait = region.signal(0).onAtLeast(1, loop(), (waiting, value, error) -> {
            seen.add(value);
            if (value < 50) {
                waiting.arm(value + 1);
            }
        });
        for (long value = 1; value <= 50; value++) {
            store(region, 0, value);
            assertThat(Patience.take("the callback's value", seen)).isEqualTo(value);
        }
        wait.close();
        assertThat(seen).isEmpty();
    }

    /** More than one turn reads. */
    @Test
    void everyOneOfManyIsWoken() {
        int words = 4000;
        List<MemoryRegion> regions = IntStream.range(0, 3)
                .mapToObj(i -> ofDevice((long) words * Long.BYTES))
                .toList();
        List<CompletableFuture<Long>> waits = new ArrayList<>();
        for (MemoryRegion region : regions) {
            for (long offset = 0; offset < region.length(); offset += Long.BYTES) {
                waits.add(region.signal(offset).awaitAtLeast(1));
            }
        }
        List<Integer> order = new ArrayList<>(
                IntStream.range(0, words * regions.size()).boxed().toList());
        Collections.shuffle(order, new Random(24));
        for (int each : order) {
            store(regions.get(each / words), (long) (each % words) * Long.BYTES, 1);
        }
        waits.forEach(wait -> assertThat(Patience.await(wait)).isEqualTo(1));
    }

    @Test
    void nothingIsLookedAtUnlessSomebodyWaits() {
        MemoryRegion region = ofDevice(64);
        WatchedRegistration registration = WatchedRegistration.of(region);
        CompletableFuture<Long> one = region.signal(0).awaitAtLeast(1);
        CompletableFuture<Long> two = region.signal(8).awaitAtLeast(1);
        SignalWait idle = region.signal(16).onAtLeast(1, loop(), (waiting, value, error) -> {});
        long before = registration.loads();
        Patience.until("it looks again and again", () -> registration.loads() > before + 10);
        assertThat(idle.disarm()).isTrue();
        two.cancel(false);
        store(region, 0, 1);
        Patience.await(one);
        Patience.until("nothing is looked at any more", () -> {
            long loads = registration.loads();
            Patience.pause(SEVERAL_LOOKS);
            return registration.loads() == loads;
        });
        CompletableFuture<Long> again = region.signal(0).awaitAtLeast(2);
        store(region, 0, 2);
        assertThat(Patience.await(again)).isEqualTo(2);
    }

    /** However long a read takes, and however many words are waited for, the loop does other work after each turn. */
    @Test
    void slowWordsDoNotHoldTheLoopUp() {
        MemoryRegion region = ofDevice(200 * Long.BYTES);
        WatchedRegistration registration = WatchedRegistration.of(region);
        EngineLoop loop = loop();
        List<CompletableFuture<Long>> waits = new ArrayList<>();
        for (long offset = 0; offset < region.length(); offset += Long.BYTES) {
            waits.add(region.signal(offset).awaitAtLeast(1));
        }
        registration.slow(Duration.ofMillis(1));
        List<Long> loads = new ArrayList<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        loop.execute(new Runnable() {
            @Override
            public void run() {
                loads.add(registration.loads());
                if (loads.getLast() - loads.getFirst() < 300) {
                    // in the next cycle
                    loop.execute(this);
                } else {
                    end.complete(null);
                }
            }
        });
        Patience.await(end);
        // the first cycle may have begun before a read took so long
        for (int i = 2; i < loads.size(); i++) {
            assertThat(loads.get(i) - loads.get(i - 1))
                    .as("words read in a cycle")
                    .isLessThanOrEqualTo(1);
        }
        registration.slow(Duration.ZERO);
        assertThat(waits).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void wordsThatCannotBeReadEndTheirWaitsAlone() {
        MemoryRegion broken = ofDevice(64);
        MemoryRegion sound = ofDevice(64);
        CompletableFuture<Long> lost = broken.signal(0).awaitAtLeast(1);
        CompletableFuture<Long> kept = sound.signal(0).awaitAtLeast(1);
        try (CapturedLog log = CapturedLog.warnings()) {
            WatchedRegistration.of(broken).breakDown();
            assertThat(Patience.failure(lost, SluiceException.class))
                    .hasMessageContaining("cannot be read")
                    .hasRootCauseMessage("the device is broken, as the test wants it");
            assertThat(log.lines()).anyMatch(line -> line.contains("cannot be read"));
        }
        store(sound, 0, 1);
        assertThat(Patience.await(kept)).isEqualTo(1);
    }

    @Test
    void waitsForWordsThatCannotBeReadEndAtOnce() {
        MemoryRegion broken = ofDevice(64);
        WatchedRegistration.of(broken).breakDown();
        assertThat(Patience.failure(broken.signal(0).awaitAtLeast(1), SluiceException.class))
                .hasMessageContaining("cannot be read");
    }
}
