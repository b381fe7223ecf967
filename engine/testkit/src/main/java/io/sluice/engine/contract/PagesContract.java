package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers of pages by a table: the bytes, the credits, the pages that failed, and the ends. */
public interface PagesContract extends Contract {
    TransferOptions PAGE_DEFAULTS = TransferOptions.defaults();

    /** Page numbers that differ, in any order. */
    private static int[] distinct(Random random, int pages, int of) {
        int[] numbers = IntStream.range(0, of).toArray();
        for (int i = 0; i < pages; i++) {
            int other = i + random.nextInt(of - i);
            int number = numbers[other];
            numbers[other] = numbers[i];
            numbers[i] = number;
        }
        return Arrays.copyOf(numbers, pages);
    }

    private static int[] any(Random random, int pages, int of) {
        return random.ints(pages, 0, of).toArray();
    }

    private static long[] offsets(int[] pages, long pageBytes) {
        return Arrays.stream(pages).mapToLong(page -> page * pageBytes).toArray();
    }

    /** Copies pages as a transfer would. */
    private static void copyPages(byte[] from, int[] fromPages, byte[] to, int[] toPages, int pageBytes) {
        for (int i = 0; i < fromPages.length; i++) {
            System.arraycopy(from, fromPages[i] * pageBytes, to, toPages[i] * pageBytes, pageBytes);
        }
    }

    private static void assertCreditsReturn(InFlightWindow window) {
        until("the credits are back", () -> window.operations() == 0 && window.bytes() == 0);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "1, 3000",
        "7, 2500",
        "64, 1",
        "1000, 1100",
        "4096, 1",
        "4096, 2",
        "4096, 1500",
        "65536, 40",
        "300000, 7",
        "1048576, 1",
        "1048576, 5"
    })
    default void everyPageLandsWhereItsNumberSays(int pageBytes, int pages) {
        Random random = ContractProfile.random("everyPageLandsWhereItsNumberSays");
        int room = pages + 3;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.lanes(2))) {
            byte[] sent = new byte[room * pageBytes];
            byte[] expected = new byte[sent.length];
            byte[] expectedBack = new byte[sent.length];
            BytePattern.fill(ContractBytes.of(sent), 11);
            MemoryRegion source = filled(pair.local(sent.length), 11);
            MemoryRegion served = pair.served(sent.length);
            MemoryRegion back = pair.local(sent.length);
            RemoteRegion remote = pair.attach(served);
            PageEnds ends = new PageEnds();
            for (int run = 0; run < 3; run++) {
                int[] from = any(random, pages, room);
                int[] to = distinct(random, pages, room);
                if (run == 1) {
                    pair.connection()
                            .writePages(
                                    source,
                                    offsets(from, pageBytes),
                                    remote,
                                    offsets(to, pageBytes),
                                    pageBytes,
                                    PAGE_DEFAULTS,
                                    ends);
                } else {
                    pair.connection().writePages(source, from, remote, to, pageBytes, PAGE_DEFAULTS, ends);
                }
                ends.awaitSuccess();
                copyPages(sent, from, expected, to, pageBytes);
                await(pair.connection().quiet());
                BytePattern.assertSame(bytesOf(served), ContractBytes.of(expected));
                int[] asked = any(random, pages, room);
                int[] into = distinct(random, pages, room);
                if (run == 1) {
                    pair.connection()
                            .readPages(
                                    back,
                                    offsets(into, pageBytes),
                                    remote,
                                    offsets(asked, pageBytes),
                                    pageBytes,
                                    PAGE_DEFAULTS,
                                    ends);
                } else {
                    pair.connection().readPages(back, into, remote, asked, pageBytes, PAGE_DEFAULTS, ends);
                }
                ends.awaitSuccess();
                copyPages(expected, asked, expectedBack, into, pageBytes);
                BytePattern.assertSame(bytesOf(back), ContractBytes.of(expectedBack));
            }
            assertThat(ends.count()).isEqualTo(6);
            assertCreditsReturn(pair.connection().window());
        }
    }

    @Test
    default void offsetsNeedNoAlignmentAndSlicesCountFromTheirStart() {
        int pageBytes = 1000;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = filled(pair.local(20_000), 5);
            MemoryRegion served = pair.served(20_000);
            RemoteRegion remote =
                    await(pair.connection().attach(served.slice(100, 10_000).descriptor()));
            PageEnds ends = new PageEnds();
            pair.connection()
                    .writePages(
                            source.slice(33, 15_000),
                            new long[] {1, 5001, 13_999},
                            remote,
                            new long[] {9000, 3, 4567},
                            pageBytes,
                            PAGE_DEFAULTS,
                            ends);
            ends.awaitSuccess();
            await(pair.connection().quiet());
            BytePattern.assertFilled(bytesOf(served).slice(9100, pageBytes), 5, 34);
            BytePattern.assertFilled(bytesOf(served).slice(103, pageBytes), 5, 5034);
            BytePattern.assertFilled(bytesOf(served).slice(4667, pageBytes), 5, 14_032);
            BytePattern.assertAll(bytesOf(served).slice(10_100), (byte) 0, "behind the slice");
        }
    }

    @ParameterizedTest
    @EnumSource
    default void pagesMoveBetweenAllEnds(Ends ends) {
        int pages = 600;
        Random random = ContractProfile.random("pagesMoveBetweenAllEnds");
        try (EnginePair pair = ends.open(transport())) {
            byte[] sent = new byte[pages * 512];
            byte[] expected = new byte[sent.length];
            BytePattern.fill(ContractBytes.of(sent), 3);
            MemoryRegion source = filled(pair.local(sent.length), 3);
            MemoryRegion served = pair.served(sent.length);
            int[] from = any(random, pages, pages);
            int[] to = distinct(random, pages, pages);
            PageEnds signals = new PageEnds();
            pair.connection().writePages(source, from, pair.attach(served), to, 512, PAGE_DEFAULTS, signals);
            signals.awaitSuccess();
            await(pair.connection().quiet());
            copyPages(sent, from, expected, to, 512);
            BytePattern.assertSame(bytesOf(served), ContractBytes.of(expected));
        }
    }

    @Test
    default void aCreditIsForAChunkAndNotForAPage() {
        int pages = 4096;
        Random random = ContractProfile.random("aCreditIsForAChunkAndNotForAPage");
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1024));
                InFlightWindowContract.Watcher watcher =
                        new InFlightWindowContract.Watcher(pair.connection().window())) {
            MemoryRegion source = pair.local(pages * 1024L);
            RemoteRegion remote = pair.attach(pair.served(source.length()));
            PageEnds ends = new PageEnds();
            pair.connection()
                    .writePages(
                            source,
                            distinct(random, pages, pages),
                            remote,
                            distinct(random, pages, pages),
                            1024,
                            PAGE_DEFAULTS,
                            ends);
            ends.awaitSuccess();
            // by the rule for chunks there are eight of 512 KiB
            assertThat(pair.connection().window().maxOperationsSeen()).isBetween(1, 8);
            assertCreditsReturn(pair.connection().window());
        }
    }

    @Test
    default void pagesKeepToTheWindowOfBytes() {
        int pages = 2000;
        long limit = 128 << 10;
        Random random = ContractProfile.random("pagesKeepToTheWindowOfBytes");
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(limit));
                InFlightWindowContract.Watcher watcher =
                        new InFlightWindowContract.Watcher(pair.connection().window())) {
            MemoryRegion source = filled(pair.local(pages * 1024L), 8);
            MemoryRegion served = pair.served(source.length());
            RemoteRegion remote = pair.attach(served);
            int[] numbers = distinct(random, pages, pages);
            PageEnds ends = new PageEnds();
            pair.connection().writePages(source, numbers, remote, numbers, 1024, PAGE_DEFAULTS, ends);
            pair.connection().writePages(source, numbers, remote, numbers, 1024, PAGE_DEFAULTS, ends);
            ends.awaitSuccess();
            ends.awaitSuccess();
            await(pair.connection().quiet());
            BytePattern.assertFilled(bytesOf(served), 8);
            assertThat(pair.connection().window().maxBytesSeen()).isLessThanOrEqualTo(limit);
            assertCreditsReturn(pair.connection().window());
        }
    }

    @Test
    default void badTablesAreRefusedAndNothingIsSubmitted() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = filled(pair.local(4096), 1);
            MemoryRegion served = pair.served(4096);
            RemoteRegion remote = pair.attach(served);
            Connection connection = pair.connection();
            PageEnds never = new PageEnds();
            int[] fine = {0, 1, 2};
            assertThatThrownBy(() ->
                            connection.writePages(local, new int[] {0, 4, 9}, remote, fine, 1024, PAGE_DEFAULTS, never))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageContaining("page 1 of the list leaves the local region");
            assertThatThrownBy(() ->
                            connection.readPages(local, fine, remote, new int[] {0, 1, -1}, 1024, PAGE_DEFAULTS, never))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageContaining("page 2 of the list leaves the remote region");
            for (long bad : new long[] {-1, 3073, 4096, Long.MAX_VALUE, Long.MIN_VALUE}) {
                assertThatThrownBy(() -> connection.writePages(
                                local,
                                new long[] {0, 3072},
                                remote,
                                new long[] {3072, bad},
                                1024,
                                PAGE_DEFAULTS,
                                never))
                        .isInstanceOf(IndexOutOfBoundsException.class)
                        .hasMessageContaining("page 1 of the list leaves the remote region");
            }
            assertThatThrownBy(() ->
                            connection.writePages(local, fine, remote, new int[] {0, 1}, 1024, PAGE_DEFAULTS, never))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() ->
                            connection.writePages(local, new int[0], remote, new int[0], 1024, PAGE_DEFAULTS, never))
                    .isInstanceOf(IllegalArgumentException.class);
            for (long pageBytes : new long[] {0, -1, Long.MIN_VALUE}) {
                assertThatThrownBy(
                                () -> connection.writePages(local, fine, remote, fine, pageBytes, PAGE_DEFAULTS, never))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            assertThatThrownBy(() ->
                            connection.writePages(local, fine, remote, fine, Long.MAX_VALUE, PAGE_DEFAULTS, never))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            RemoteRegion readable = pair.attach(allocate(pair.target(), 4096, RegionOptions.readOnly()));
            assertThatThrownBy(() -> connection.writePages(local, fine, readable, fine, 1024, PAGE_DEFAULTS, never))
                    .isInstanceOf(RemoteAccessException.class);
            assertThat(never.count()).isZero();
            assertThat(connection.pending()).isZero();
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    default void pagesOfAClosedRemoteRegionFail(boolean write) {
        int pages = 2000;
        Random random = ContractProfile.random("pagesOfAClosedRemoteRegionFail");
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(pages * 1024L);
            MemoryRegion served = pair.served(local.length());
            RemoteRegion remote = pair.attach(served);
            await(served.close());
            int[] from = distinct(random, pages, pages);
            int[] to = distinct(random, pages, pages);
            PageEnds ends = new PageEnds();
            if (write) {
                pair.connection().writePages(local, from, remote, to, 1024, PAGE_DEFAULTS, ends);
            } else {
                pair.connection().readPages(local, from, remote, to, 1024, PAGE_DEFAULTS, ends);
            }
            PageEnds.End end = ends.await();
            assertThat(end.error()).containsInstanceOf(PagesFailedException.class);
            PagesFailedException error = (PagesFailedException) end.error().orElseThrow();
            assertThat(error).hasCauseInstanceOf(RemoteAccessException.class);
            assertThat(error.pages()).isEqualTo(pages);
            assertThat(error.failedPages().cardinality()).isEqualTo(pages);
            assertThat(end.failed()).isEqualTo(error.failedPages());
            assertCreditsReturn(pair.connection().window());
            MemoryRegion other = pair.served(64);
            pair.write(local, 0, pair.attach(other), 0, 64).awaitSuccess();
        }
    }

    @Test
    default void pagesOfAClosedLocalRegionFail() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(4096);
            RemoteRegion remote = pair.attach(pair.served(4096));
            await(local.close());
            PageEnds ends = new PageEnds();
            int[] crossed = {3, 2, 1, 0};
            pair.connection().writePages(local, new int[] {0, 1, 2, 3}, remote, crossed, 1024, PAGE_DEFAULTS, ends);
            PageEnds.End end = ends.await();
            assertThat(end.error().orElseThrow()).hasCauseInstanceOf(RegionClosedException.class);
            assertThat(end.failed().cardinality()).isEqualTo(4);
            assertCreditsReturn(pair.connection().window());
        }
    }

    @Test
    default void failedPagesStayAsTheyAreWhenTheCallbackStartsItAgain() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(4096);
            RemoteRegion remote = pair.attach(pair.served(4096));
            await(local.close());
            CompletableFuture<Integer> first = new CompletableFuture<>();
            CompletableFuture<Integer> second = new CompletableFuture<>();
            int[] crossed = {3, 2, 1, 0};
            pair.connection()
                    .prepared()
                    .writePages(
                            local,
                            new int[] {0, 1, 2, 3},
                            remote,
                            crossed,
                            1024,
                            PAGE_DEFAULTS,
                            (transfer, failed, error) -> {
                                if (first.isDone()) {
                                    second.complete(failed.cardinality());
                                } else {
                                    ((PreparedTransfer) transfer).start();
                                    first.complete(failed.cardinality());
                                }
                            })
                    .start();
            assertThat(await(first)).isEqualTo(4);
            assertThat(await(second)).isEqualTo(4);
        }
    }

    @Test
    default void pagesThatWaitEndByCancelAndByDeadline() {
        int pages = 3000;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(1))) {
            MemoryRegion local = pair.local(pages * 1024L);
            MemoryRegion served = pair.served(local.length());
            RemoteRegion remote = pair.attach(served);
            bytesOf(local).fill((byte) 1);
            int[] from = IntStream.range(0, pages).toArray();
            int[] to = IntStream.range(0, pages).map(i -> pages - 1 - i).toArray();
            PageEnds cancelled = new PageEnds();
            PageEnds late = new PageEnds();
            try (TakenWindow window = new TakenWindow(pair)) {
                Transfer transfer =
                        pair.connection().writePages(local, from, remote, to, 1024, PAGE_DEFAULTS, cancelled);
                Transfer timed = pair.connection()
                        .writePages(
                                local, from, remote, to, 1024, PAGE_DEFAULTS.withDeadline(Duration.ofMillis(50)), late);
                transfer.cancel();
                BitSet unmoved = cancelled.awaitFailure(TransferCancelledException.class);
                assertThat(unmoved.cardinality()).isEqualTo(pages);
                assertThat(late.awaitFailure(TransferTimeoutException.class).cardinality())
                        .isEqualTo(pages);
                // none was posted, so that there is nothing to wait for
                await(transfer.quiesced());
                await(timed.quiesced());
            }
            assertCreditsReturn(pair.connection().window());
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target of pages that were not posted");
            assertThat(cancelled.count() + late.count()).isEqualTo(2);
        }
    }

    @Test
    default void pagesThatAreUnderWayEndByDeadlineAndQuiesceLater() {
        // more than a poller copies in two turns, where it copies
        int pages = (int) (WhilePosted.BYTES / 4096);
        Random random = ContractProfile.random("pagesThatAreUnderWayEndByDeadlineAndQuiesceLater");
        int[] into = distinct(random, pages, pages);
        int[] from = distinct(random, pages, pages);
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(pages * 4096L);
            RemoteRegion remote = pair.attach(filled(pair.served(local.length()), 5));
            if (transport().needsTargetToRun()) {
                PageEnds ends = new PageEnds();
                Transfer transfer;
                try (Blockade blockade = Blockade.ofTarget(pair)) {
                    transfer = readPagesWithin(Duration.ofMillis(100), pair, local, into, remote, from, ends);
                    assertThat(ends.awaitFailure(TransferTimeoutException.class).cardinality())
                            .isEqualTo(pages);
                    assertThat(transfer.quiesced()).isNotDone();
                }
                assertNoneLandsAfterQuiescence(pair, local, transfer, ends);
                return;
            }
            // The target cannot be held up: deadlines from before the first page to after the last.
            int late = 0;
            for (int nanos = 1; nanos < 50_000_000; nanos *= 3) {
                PageEnds ends = new PageEnds();
                Transfer transfer = readPagesWithin(Duration.ofNanos(nanos), pair, local, into, remote, from, ends);
                PageEnds.End end = ends.await();
                if (end.error().isPresent()) {
                    assertThat(end.error()).containsInstanceOf(TransferTimeoutException.class);
                    assertThat(end.failed().isEmpty()).isFalse();
                    late++;
                }
                assertNoneLandsAfterQuiescence(pair, local, transfer, ends);
            }
            assertThat(late).as("transfers that their deadline has ended").isPositive();
        }
    }

    private static Transfer readPagesWithin(
            Duration deadline,
            EnginePair pair,
            MemoryRegion local,
            int[] into,
            RemoteRegion remote,
            int[] from,
            PageEnds ends) {
        return pair.connection().readPages(local, into, remote, from, 4096, PAGE_DEFAULTS.withDeadline(deadline), ends);
    }

    private void assertNoneLandsAfterQuiescence(EnginePair pair, MemoryRegion local, Transfer transfer, PageEnds ends) {
        await(transfer.quiesced());
        bytesOf(local).fill((byte) 0);
        // Pages still posted would have been written by the end of this transfer.
        MemoryRegion other = pair.local(64);
        pair.write(other, 0, pair.attach(pair.served(64)), 0, 64).awaitSuccess();
        await(pair.connection().quiet());
        BytePattern.assertAll(bytesOf(local), (byte) 0, "memory whose transfer has quiesced");
        assertCreditsReturn(pair.connection().window());
        assertThat(ends.count()).isEqualTo(1);
    }

    @Test
    default void theEndOfTheConnectionEndsPagesOnce() {
        int pages = 4000;
        Random random = ContractProfile.random("theEndOfTheConnectionEndsPagesOnce");
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowOperations(2))) {
            MemoryRegion local = pair.local(pages * 4096L);
            RemoteRegion remote = pair.attach(pair.served(local.length()));
            PageEnds ends = new PageEnds();
            int[] from = distinct(random, pages, pages);
            int[] to = distinct(random, pages, pages);
            int transfers = 20;
            for (int i = 0; i < transfers; i++) {
                pair.connection().writePages(local, from, remote, to, 4096, PAGE_DEFAULTS, ends);
            }
            await(pair.connection().close());
            for (int i = 0; i < transfers; i++) {
                PageEnds.End end = ends.await();
                assertThat(end.failed().isEmpty()).isEqualTo(end.error().isEmpty());
            }
            assertThat(ends.count()).isEqualTo(transfers);
            assertCreditsReturn(pair.connection().window());
        }
    }

    @Test
    default void pagesThatWereNotPreparedRunOnce() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = filled(pair.local(4096), 7);
            MemoryRegion served = pair.served(4096);
            RemoteRegion remote = pair.attach(served);
            CompletableFuture<Throwable> again = new CompletableFuture<>();
            int[] numbers = {3, 1, 0, 2};
            pair.connection()
                    .writePages(source, numbers, remote, numbers, 1024, PAGE_DEFAULTS, (transfer, failed, error) -> {
                        try {
                            ((PreparedTransfer) transfer).start();
                            again.completeExceptionally(new AssertionError("it was started again"));
                        } catch (IllegalStateException e) {
                            again.complete(e);
                        }
                    });
            assertThat(await(again)).hasMessageContaining("runs once");
            PageEnds ends = new PageEnds();
            pair.connection().writePages(source, numbers, remote, numbers, 1024, PAGE_DEFAULTS, ends);
            ends.awaitSuccess();
            await(pair.connection().quiet());
            BytePattern.assertFilled(bytesOf(served), 7);
            assertCreditsReturn(pair.connection().window());
        }
    }

    @Test
    default void aPreparedOneRunsAgainWithOtherPages() {
        int room = 300;
        int pageBytes = 700;
        Random random = ContractProfile.random("aPreparedOneRunsAgainWithOtherPages");
        try (EnginePair pair = EnginePair.open(transport())) {
            byte[] sent = new byte[room * pageBytes];
            byte[] expected = new byte[sent.length];
            BytePattern.fill(ContractBytes.of(sent), 6);
            MemoryRegion source = filled(pair.local(sent.length), 6);
            MemoryRegion served = pair.served(sent.length);
            RemoteRegion remote = pair.attach(served);
            PageEnds ends = new PageEnds();
            PreparedTransfer prepared = pair.connection()
                    .prepared()
                    .writePages(source, new int[] {1}, remote, new int[] {2}, pageBytes, PAGE_DEFAULTS, ends);
            copyPages(sent, new int[] {1}, expected, new int[] {2}, pageBytes);
            prepared.start();
            ends.awaitSuccess();
            for (int run = 0; run < 50; run++) {
                int pages = 1 + random.nextInt(room);
                int[] from = any(random, pages, room);
                int[] to = distinct(random, pages, room);
                PreparedTransfer aimed = run % 2 == 0
                        ? prepared.retargetPages(from, to)
                        : prepared.retargetPages(offsets(from, pageBytes), offsets(to, pageBytes));
                assertThat(aimed).isSameAs(prepared);
                assertThatThrownBy(() -> prepared.retargetPages(new int[] {room}, new int[] {0}))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> prepared.retarget(0, 0, 1)).isInstanceOf(UnsupportedOperationException.class);
                prepared.start();
                ends.awaitSuccess();
                copyPages(sent, from, expected, to, pageBytes);
                await(pair.connection().quiet());
                BytePattern.assertSame(bytesOf(served), ContractBytes.of(expected));
            }
            assertThat(ends.count()).isEqualTo(51);
            PreparedTransfer single =
                    pair.connection().prepared().write(source, 0, remote, 0, 1, PAGE_DEFAULTS, new TerminalSignal());
            assertThatThrownBy(() -> single.retargetPages(new int[] {0}, new int[] {0}))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }
}
