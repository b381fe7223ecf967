package io.sluice.experts.cuda;

import io.sluice.engine.MemoryKind;
import io.sluice.experts.DispatchFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A word of a call, of one of its sets, for all ranks that the host carries to, and the rows before it. The next of the set comes when all
 * ranks have taken this one, so that mirror and places hold what they are read for. On the loop.
 */
final class ProxiedCall {
    private static final int DISPATCHED = 0;
    private static final int COMBINED = 1;
    private static final int SIGNATURE = 0xFFFF;

    private final Proxy proxy;
    private final ProxyMemory memory;
    private final LowLatencyLayout layout;
    private final int index;
    private final int rank;
    private final long partAt;
    private final List<Carriage> carriages = new ArrayList<>();
    private long seen;
    private int underWay;

    /**
     * Makes one.
     *
     * @param index among the arrays of words, by kind and set
     * @param rank this rank
     * @param partAt where the low-latency part of a window begins
     */
    ProxiedCall(Proxy proxy, ProxyMemory memory, int index, int rank, long partAt) {
        this.proxy = proxy;
        this.memory = memory;
        this.layout = memory.layout();
        this.index = index;
        this.rank = rank;
        this.partAt = partAt;
        memory.ranks().forEach(to -> carriages.add(new Carriage(to)));
    }

    private int kind() {
        return index / LowLatencyLayout.SETS;
    }

    private int set() {
        return index % LowLatencyLayout.SETS;
    }

    /** Whether all is carried that kernels have said. */
    boolean isIdle() {
        return underWay == 0 && memory.value(index) == seen;
    }

    /** Begins to carry what a kernel has said; false if there is nothing new. */
    boolean begin() {
        if (underWay > 0) {
            return false;
        }
        long value = memory.value(index);
        if (value == seen) {
            return false;
        }
        seen = value;
        underWay = carriages.size();
        for (int i = 0; i < carriages.size(); i++) {
            carriages.get(i).begin(value);
        }
        return true;
    }

    private void ended() {
        if (--underWay == 0) {
            proxy.ended();
        }
    }

    /** The part of one rank. */
    private final class Carriage {
        private final ProxiedRank to;
        // tcp acknowledges rows when they are visible, an adapter before
        private final boolean areVisible;
        private long value;
        private int parts;
        private boolean hasFailed;

        Carriage(ProxiedRank to) {
            this.to = to;
            this.areVisible = kind() > COMBINED
                    || to.window().path(MemoryKind.CUDA).transport().equals("tcp");
        }

        void begin(long word) {
            value = word;
            hasFailed = false;
            // transfers may end inside the calls that start them
            parts = 1;
            try {
                if (kind() == DISPATCHED) {
                    sendMessages();
                } else if (kind() == COMBINED) {
                    sendRows();
                }
            } catch (RuntimeException e) {
                fail(e);
            }
            partEnded(null);
        }

        private void fail(Throwable why) {
            hasFailed = true;
            proxy.failed(to, kind() <= COMBINED, why);
        }

        private void partEnded(@Nullable RuntimeException error) {
            if (error != null) {
                fail(error);
            }
            if (--parts > 0) {
                return;
            }
            if (hasFailed) {
                ended();
            } else if (areVisible) {
                sendWord();
            } else {
                awaitVisible();
            }
        }

        // ---- rows ----

        private void sendMessages() {
            int count = memory.messages(index, to.rank());
            send(partAt + layout.countsAt(set(), rank), layout.countsBytes());
            if (count == 0) {
                return;
            }
            long first = partAt + layout.messageAt(set(), rank);
            long stride = layout.messageBytes();
            long bytes = layout.messageBytes(DispatchFormat.values()[(int) value & SIGNATURE]);
            // gaps of a quarter are carried with the rest, by a copy engine
            if (count == 1 || bytes > stride / 4 * 3) {
                send(first, (count - 1) * stride + bytes);
                return;
            }
            long[] offsets = new long[count];
            Arrays.setAll(offsets, i -> first + i * stride);
            send(offsets, bytes);
        }

        private void sendRows() {
            long rows = memory.rows(index);
            int[] slots = new int[(int) rows];
            int count = 0;
            for (long row = 0; row < rows; row++) {
                int place = memory.place(set(), row);
                if (ProxyMemory.rank(place) == to.rank()) {
                    slots[count++] = ProxyMemory.slot(place);
                }
            }
            if (count == 0) {
                return;
            }
            long[] offsets = new long[count];
            Arrays.setAll(offsets, i -> partAt + layout.slotAt(set(), slots[i]));
            // in LogFMT too: which sections are encoded is known to the GPU alone
            send(offsets, layout.rowBytes());
            if (LowLatencyLayout.isLogFmt(value)) {
                long[] extremes = new long[count];
                Arrays.setAll(extremes, i -> partAt + layout.extremesAt(set(), slots[i]));
                send(extremes, layout.extremesBytes());
            }
        }

        /** Carries a range to the same place of the rank's window. */
        private void send(long offset, long bytes) {
            parts++;
            try {
                to.window()
                        .connection()
                        .write(
                                to.mirror(),
                                offset,
                                to.window(),
                                offset,
                                bytes,
                                ProxiedRank.OPTIONS,
                                (transfer, error) -> partEnded(error));
            } catch (RuntimeException e) {
                partEnded(e);
            }
        }

        private void send(long[] offsets, long bytes) {
            parts++;
            try {
                to.window()
                        .connection()
                        .writePages(
                                to.mirror(),
                                offsets,
                                to.window(),
                                offsets,
                                bytes,
                                ProxiedRank.OPTIONS,
                                (transfer, failed, error) -> partEnded(error));
            } catch (RuntimeException e) {
                partEnded(e);
            }
        }

        // ---- the word ----

        private void awaitVisible() {
            CompletableFuture<Void> quiet;
            try {
                quiet = to.window().connection().quiet();
            } catch (RuntimeException e) {
                fail(e);
                ended();
                return;
            }
            quiet.whenComplete((nothing, error) -> to.window()
                    .connection()
                    .loop()
                    .execute(() -> {
                        if (error == null) {
                            sendWord();
                        } else {
                            fail(error);
                            ended();
                        }
                    }));
        }

        private void sendWord() {
            try {
                to.window()
                        .connection()
                        .put(
                                to.window(),
                                partAt + LowLatencyLayout.wordAt(index, rank),
                                value,
                                Long.BYTES,
                                ProxiedRank.OPTIONS,
                                (transfer, error) -> {
                                    if (error != null) {
                                        fail(error);
                                    }
                                    ended();
                                });
            } catch (RuntimeException e) {
                fail(e);
                ended();
            }
        }
    }
}
