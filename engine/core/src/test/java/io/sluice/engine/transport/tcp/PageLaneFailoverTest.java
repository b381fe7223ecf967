package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A lane that is lost in the middle of a frame of pages: the frame goes over another lane, and every page is right. */
class PageLaneFailoverTest {
    private static final int LANES = 3;
    private static final int PAGE = 4096;
    private static final int PAGES = 2048;
    private static final long BYTES = (long) PAGES * PAGE;
    // in the middle of a page of one of a lane's first frames
    private static final long PASSED = (700 << 10) + 333;

    private final AtomicInteger ends = new AtomicInteger();

    private static int[] shuffled(long seed) {
        List<Integer> pages = new ArrayList<>(IntStream.range(0, PAGES).boxed().toList());
        Collections.shuffle(pages, new Random(seed));
        return pages.stream().mapToInt(Integer::intValue).toArray();
    }

    private void end(CompletableFuture<Void> ended, @Nullable SluiceException error) {
        ends.incrementAndGet();
        if (error == null) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(error);
        }
    }

    private static long lanesDown(TransferEngine engine) {
        return engine.metrics().transports().stream()
                .mapToLong(transport -> transport.lanes(TransportMetrics.PathState.DOWN))
                .sum();
    }

    @ParameterizedTest
    @CsvSource({"true, RESET", "true, HALF_CLOSE", "false, RESET", "false, HALF_CLOSE"})
    void pagesOfALostLaneGoOverTheOthers(boolean writes, FaultyPath.Break how) {
        try (FaultyPath path = new FaultyPath()) {
            EngineOptions options = PatientOptions.builder()
                    .transports(List.of("tcp"))
                    .lanes(LANES)
                    .connectTimeout(Patience.BOUND)
                    .build();
            try (TransferEngine target = TransferEngine.open(options);
                    TransferEngine initiator = TransferEngine.open(options)) {
                path.leadsTo(target.address().port());
                Connection connection =
                        Patience.await(initiator.connect(new EngineAddress("127.0.0.1", path.port(), target.id())));
                Patience.until("all lanes are there", () -> path.links().size() == 1 + LANES);
                MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local());
                MemoryRegion served = target.allocate(BYTES, RegionOptions.readWrite());
                MemorySegment source = (writes ? local : served).segment();
                Filling.fill(source, 5);
                RemoteRegion remote = Patience.await(connection.attach(served.descriptor()));
                int[] here = shuffled(1);
                int[] there = shuffled(2);
                path.links().get(2).breakAfter(writes, PASSED, how);
                CompletableFuture<Void> ended = new CompletableFuture<>();
                if (writes) {
                    connection.writePages(
                            local,
                            here,
                            remote,
                            there,
                            PAGE,
                            TransferOptions.defaults(),
                            (transfer, failed, error) -> end(ended, error));
                } else {
                    connection.readPages(
                            local,
                            here,
                            remote,
                            there,
                            PAGE,
                            TransferOptions.defaults(),
                            (transfer, failed, error) -> end(ended, error));
                }
                Patience.await(ended);
                Patience.await(connection.quiesced());
                assertThat(lanesDown(initiator)).isOne();
                assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
                for (int i = 0; i < PAGES; i++) {
                    MemorySegment one = local.segment().asSlice((long) here[i] * PAGE, PAGE);
                    assertThat(one.mismatch(served.segment().asSlice((long) there[i] * PAGE, PAGE)))
                            .as("page %d of the list", i)
                            .isEqualTo(-1);
                }
                assertThat(connection.window().operations()).isZero();
                assertThat(connection.window().bytes()).isZero();
                // no lease is left on either side
                Patience.await(local.close());
                Patience.await(served.close());
                assertThat(ends).hasValue(1);
            }
        }
    }
}
