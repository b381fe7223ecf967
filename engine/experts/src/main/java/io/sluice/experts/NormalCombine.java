package io.sluice.experts;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.engine.ProtocolException;
import io.sluice.experts.backend.PutBatch;
import io.sluice.jni.ExpertKernels;
import io.sluice.jni.ExpertSums;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs the combines of normal mode, one at a time. What comes back from a rank lies in the order in which its tokens
 * went there, so all that is said about it is of which dispatch it is; when all is there, it is added token by token.
 * The loop's alone.
 */
final class NormalCombine {
    private static final int HALF_WORD = 32;
    private static final long UNSIGNED = 0xFFFF_FFFFL;

    private final NormalLinks links;
    private final NormalMemory at;
    private final NormalSources sources;
    private final MemorySegment segment;
    private final int rank;
    private final int operands;
    // int32 [most tokens, operands]
    private final MemorySegment indices;
    private final boolean[] ended;
    private final int[] sentRows;
    private final int[] added;
    private final SlicedWork summing;
    private @Nullable NormalCombineCall call;
    private long number;
    private int sent;
    private boolean arrived;
    private int indexed;
    private boolean told;

    NormalCombine(NormalLinks links, NormalSources sources, @Nullable HelperThreads helpers) {
        this.links = links;
        this.at = links.at;
        this.sources = sources;
        this.segment = links.segment;
        this.rank = links.rank;
        this.operands = Math.min(at.ranks, at.topK);
        this.indices = Arena.ofAuto().allocate((long) at.maxTokens * operands * Integer.BYTES, Integer.BYTES);
        this.ended = new boolean[at.ranks];
        this.sentRows = new int[at.ranks];
        this.added = new int[at.ranks];
        this.summing = new SlicedWork(helpers, this::sum);
    }

    /** Begins a combine, after the one before has ended. */
    void begin(NormalCombineCall begun) {
        call = begun;
        number++;
        sent = 0;
        arrived = false;
        indexed = 0;
        summing.begin(begun.handle.tokens(), at.rowBytes() * (operands + 1));
        told = false;
        Arrays.fill(ended, false);
        Arrays.fill(sentRows, 0);
        Arrays.fill(added, 0);
        segment.set(ValueLayout.JAVA_LONG, at.ownCombineNoteAt(), note());
    }

    /** What this combine is: its number, and that of its dispatch, the same on all ranks. */
    private long note() {
        return (number << HALF_WORD) | (call().handle.dispatch() & UNSIGNED);
    }

    private NormalCombineCall call() {
        return Objects.requireNonNull(call);
    }

    /**
     * Does a share of the combine.
     *
     * @param budget how many bytes it may move
     * @return how many it has moved; at least the budget if there is more to do at once
     */
    int advance(int budget) {
        int used = 0;
        for (int i = 0; i < at.ranks && used < budget && sent < at.ranks; i++) {
            used += send((rank + 1 + i) % at.ranks, budget - used);
        }
        if (used < budget && haveArrived()) {
            used += finishTokens(budget - used);
        }
        return used;
    }

    /** Whether the sums are there, and nothing reads this rank's vectors any more. */
    boolean isDone() {
        return told && sent == at.ranks && links.isIdle();
    }

    /** Whether it needs something of another rank. */
    boolean awaits(int other) {
        return !links.peer(other).combineArrived.reached(number)
                || (!ended[other] && !links.peer(other).combineDone.reached(number - 1));
    }

    NormalCombineCall finish() {
        NormalCombineCall done = call();
        call = null;
        return done;
    }

    // ---- what this rank sends back ----

    private int send(int to, int budget) {
        // the memory that it goes to may still be read for the combine before
        if (ended[to] || (to != rank && !links.peer(to).combineDone.reached(number - 1))) {
            return 0;
        }
        NormalCombineCall current = call();
        int rows = current.handle.rowCount(to);
        int used = 0;
        if (rows > 0) {
            MemorySegment target = links.reachable(to);
            if (target == null) {
                put(current, to, rows);
            } else {
                used = copy(current, to, target, rows, budget);
                if (sentRows[to] < rows) {
                    return Math.max(used, budget);
                }
            }
        }
        if (to != rank) {
            MemorySegment target = links.reachable(to);
            if (target != null) {
                target.set(ValueLayout.JAVA_LONG, at.combineNoteAt(rank), note());
            }
            links.peer(to).endCombine();
        }
        ended[to] = true;
        sent++;
        return used;
    }

    private int copy(NormalCombineCall current, int to, MemorySegment target, int rows, int budget) {
        int first = sentRows[to];
        int count = (int) Math.min(rows - first, Math.max(1, budget / at.rowBytes()));
        ExpertKernels.copyRows(
                target,
                at.combineAt(rank, 0),
                at.rowBytes(),
                null,
                0,
                current.y,
                current.yOffset + current.handle.firstRow(to) * at.rowBytes(),
                at.rowBytes(),
                null,
                0,
                at.rowBytes(),
                first,
                count,
                Caches.areExceededBy(current.handle.received() * at.rowBytes()));
        sentRows[to] = first + count;
        return (int) (count * at.rowBytes());
    }

    private void put(NormalCombineCall current, int to, int rows) {
        PutBatch batch = sources.batch(current.region(), to);
        int first = current.handle.firstRow(to);
        for (int i = 0; i < rows; i++) {
            batch.add(current.yOffset + (first + i) * at.rowBytes(), at.combineAt(rank, i));
        }
        links.peer(to).start(batch);
    }

    // ---- the sums ----

    private boolean haveArrived() {
        if (!arrived) {
            boolean all = ended[rank];
            for (int from = 0; from < at.ranks; from++) {
                all &= from == rank || links.peer(from).combineArrived.reached(number);
            }
            if (all) {
                compare();
            }
            arrived = all;
        }
        return arrived;
    }

    private void compare() {
        long own = note();
        for (int from = 0; from < at.ranks; from++) {
            long other = from == rank ? own : segment.get(ValueLayout.JAVA_LONG, at.combineNoteAt(from));
            if (other >>> HALF_WORD != own >>> HALF_WORD) {
                throw new ProtocolException("the note of rank " + from + " is of combine " + (other >>> HALF_WORD)
                        + ", and " + (own >>> HALF_WORD) + " was announced");
            }
            if (other != own) {
                throw new CollectiveMismatchException("rank " + rank + " combines dispatch " + (own & UNSIGNED)
                        + ", and rank " + from + " dispatch " + (other & UNSIGNED));
            }
        }
    }

    private int finishTokens(int budget) {
        int used = index(budget);
        if (indexed == call().handle.tokens()) {
            used += summing.advance(budget - used);
            if (summing.isDone()) {
                tell();
            }
        }
        return used;
    }

    /** Adds the vectors of tokens. Any thread. */
    private void sum(int first, int count) {
        NormalCombineCall current = call();
        ExpertSums.ofRows(
                current.out,
                current.outOffset,
                at.rowBytes(),
                segment,
                at.combineAt(0, 0),
                at.rowBytes(),
                indices,
                0,
                current.bias,
                current.biasOffset,
                at.rowBytes(),
                at.hidden,
                operands,
                first,
                count);
    }

    private void tell() {
        if (!told) {
            told = true;
            for (int to = 0; to < at.ranks; to++) {
                if (to != rank) {
                    links.peer(to).doneCombine();
                }
            }
        }
    }

    private int index(int budget) {
        NormalHandle handle = call().handle;
        int bytes = at.ranks * Integer.BYTES;
        int count = Math.min(handle.tokens() - indexed, Math.max(1, budget / bytes));
        for (int end = indexed + count; indexed < end; indexed++) {
            index(handle, indexed);
        }
        return count * bytes;
    }

    /** Finds the vectors of a token, in the order of the ranks that they come from. */
    private void index(NormalHandle handle, int token) {
        long to = (long) token * operands * Integer.BYTES;
        long end = to + (long) operands * Integer.BYTES;
        for (int from = 0; from < at.ranks; from++) {
            int next = added[from];
            if (next < handle.sentCount(from) && handle.sentToken(from, next) == token) {
                added[from] = next + 1;
                indices.set(ValueLayout.JAVA_INT, to, from * at.maxTokens + next);
                to += Integer.BYTES;
            }
        }
        for (; to < end; to += Integer.BYTES) {
            indices.set(ValueLayout.JAVA_INT, to, -1);
        }
    }
}
