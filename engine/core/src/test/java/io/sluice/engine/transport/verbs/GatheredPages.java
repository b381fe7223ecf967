package io.sluice.engine.transport.verbs;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PageCallback;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Moves pages that are anywhere here and follow each other at the target, and looks at each of them. As a program it prints how many
 * requests that took, a write and then a read, each after {@code @}.
 */
final class GatheredPages implements AutoCloseable {
    static final char OUTCOME = '@';
    static final int PAGES = 64;

    private static final int PAGE_BYTES = 1024;

    private final SoftAdapter adapter = SoftAdapter.get();
    private final VerbsPair pair;
    private final MemoryRegion local;
    private final MemoryRegion served;
    private final RemoteRegion remote;

    GatheredPages(VerbsUnderTest transport) {
        pair = VerbsPair.open(transport, both -> both.lanes(1));
        local = pair.local((long) PAGES * PAGE_BYTES);
        served = pair.served((long) PAGES * PAGE_BYTES);
        remote = pair.attach(served);
    }

    public static void main(String[] arguments) {
        int[] backwards = new int[PAGES];
        int[] forwards = new int[PAGES];
        for (int i = 0; i < PAGES; i++) {
            backwards[i] = PAGES - 1 - i;
            forwards[i] = i;
        }
        VerbsUnderTest transport = VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1));
        try (GatheredPages pages = new GatheredPages(transport.with("SLUICE_VERBS_SEND_DEPTH", "512"))) {
            System.out.println(OUTCOME + String.valueOf(pages.write(backwards, forwards)));
            System.out.println(OUTCOME + String.valueOf(pages.read(backwards, forwards)));
        }
    }

    VerbsPair pair() {
        return pair;
    }

    /** Writes pages, and gives how many requests that took. */
    long write(int[] from, int[] to) {
        fill(local, 1);
        fill(served, 0);
        long posts = adapter.counter("posts");
        End end = new End();
        pair.connection().writePages(local, from, remote, to, PAGE_BYTES, TransferOptions.defaults(), end);
        end.await();
        long posted = adapter.counter("posts") - posts;
        Patience.await(pair.connection().quiet());
        check(local, from, served, to);
        return posted;
    }

    /** Reads pages, and gives how many requests that took. */
    long read(int[] into, int[] from) {
        fill(local, 0);
        fill(served, 1);
        long posts = adapter.counter("posts");
        End end = new End();
        pair.connection().readPages(local, into, remote, from, PAGE_BYTES, TransferOptions.defaults(), end);
        end.await();
        long posted = adapter.counter("posts") - posts;
        check(served, from, local, into);
        return posted;
    }

    /** Each page has numbers of its own, or zeros. */
    private static void fill(MemoryRegion region, int factor) {
        for (long at = 0; at < region.length(); at += Integer.BYTES) {
            region.segment().set(ValueLayout.JAVA_INT, at, factor * (int) (at + 1));
        }
    }

    private static void check(MemoryRegion from, int[] fromPages, MemoryRegion to, int[] toPages) {
        for (int i = 0; i < fromPages.length; i++) {
            long wrong = MemorySegment.mismatch(
                    from.segment(),
                    (long) fromPages[i] * PAGE_BYTES,
                    (fromPages[i] + 1L) * PAGE_BYTES,
                    to.segment(),
                    (long) toPages[i] * PAGE_BYTES,
                    (toPages[i] + 1L) * PAGE_BYTES);
            if (wrong >= 0) {
                throw new AssertionError("page " + i + " differs at byte " + wrong);
            }
        }
    }

    @Override
    public void close() {
        pair.close();
    }

    private static final class End implements PageCallback {
        private final CompletableFuture<Void> ended = new CompletableFuture<>();

        @Override
        public void terminated(Transfer transfer, BitSet failed, @Nullable SluiceException error) {
            if (error == null) {
                ended.complete(null);
            } else {
                ended.completeExceptionally(error);
            }
        }

        void await() {
            Patience.await(ended);
        }
    }
}
