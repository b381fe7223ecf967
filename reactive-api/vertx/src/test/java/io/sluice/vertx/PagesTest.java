package io.sluice.vertx;

import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.engine.TransferTimeoutException;
import io.vertx.core.Vertx;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists of pages as futures. */
@ExtendWith(OwnVertx.class)
class PagesTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();
    private static final int PAGE = 1000;

    private static MemorySegment page(MemoryRegion region, long number) {
        return region.segment().asSlice(number * PAGE, PAGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void pagesGoAndComeBack(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport));
            Target.Attached to = target.attach(client);
            TransferConnection connection = to.connection();
            MemoryRegion local = await(client.allocate(4 * PAGE, RegionOptions.local()));
            for (int i = 0; i < 4; i++) {
                page(local, i).fill((byte) (i + 1));
            }
            int[] here = {3, 0};
            int[] there = {5, 9};
            assertThat(await(connection.writePages(local, here, to.remote(), there, PAGE, DEFAULTS))
                            .bytes())
                    .isEqualTo(2 * PAGE);
            assertThat(page(target.region, 5).mismatch(page(local, 3))).isEqualTo(-1);
            assertThat(page(target.region, 9).mismatch(page(local, 0))).isEqualTo(-1);
            long[] into = {PAGE, 2 * PAGE};
            long[] asked = {9 * PAGE, 5 * PAGE};
            await(connection.readPages(local, into, to.remote(), asked, PAGE, DEFAULTS));
            assertThat(page(local, 1).mismatch(page(local, 0))).isEqualTo(-1);
            assertThat(page(local, 2).mismatch(page(local, 3))).isEqualTo(-1);
            assertThatThrownBy(() ->
                            await(connection.writePages(local, new int[] {4, 0}, to.remote(), there, PAGE, DEFAULTS)))
                    .hasMessageContaining("page 0 of the list leaves the local region");
        }
    }

    @Test
    void pagesThatAreGivenUpAreNamed(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(4 * PAGE, RegionOptions.local()));
            TransferOptions waiting = DEFAULTS.startAfter(StartEvent.of(new CompletableFuture<>()));
            TransferOptions late = waiting.withDeadline(Duration.ofMillis(20));
            CancellableTransfers transfers = to.connection().cancellable();
            int[] pages = {0, 1};
            long[] offsets = {3, 4};
            assertNamed(
                    transfers.writePages(local, pages, to.remote(), pages, PAGE, late), TransferTimeoutException.class);
            assertNamed(
                    transfers.readPages(local, offsets, to.remote(), offsets, PAGE, late),
                    TransferTimeoutException.class);
            TransferHandle<TransferResult> write =
                    transfers.writePages(local, offsets, to.remote(), offsets, PAGE, waiting);
            TransferHandle<TransferResult> read = transfers.readPages(local, pages, to.remote(), pages, PAGE, waiting);
            write.cancel();
            read.cancel();
            assertNamed(write, TransferCancelledException.class);
            assertNamed(read, TransferCancelledException.class);
        }
    }

    private static void assertNamed(TransferHandle<TransferResult> handle, Class<? extends Throwable> cause)
            throws Exception {
        Throwable error = Bounded.failure(handle.result());
        assertThat(error).isInstanceOf(PagesFailedException.class).hasCauseInstanceOf(cause);
        assertThat(((PagesFailedException) error).failedPages().stream()).containsExactly(0, 1);
    }
}
