package io.sluice.cuda;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Counts what one user of a {@link GpuStream} starts in it, by kinds, and how much of that the stream is through with:
 *
 * <pre>{@code
 * GpuWorkFigures figures = new GpuWorkFigures(stream, 2);
 * GpuWorkFigures.Tally sums = GpuWorkFigures.Tally.of(0, bytes);
 * figures.started(sums, work.submit());
 * long done = figures.ended(0);
 * }</pre>
 *
 * <p>Counting allocates nothing, takes no lock and calls no driver. The thread that submits counts; any thread reads, and gets figures
 * that may be some works old.
 */
public final class GpuWorkFigures {
    private static final VarHandle LONG = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle TALLY = MethodHandles.arrayElementVarHandle(Tally[].class);
    private static final VarHandle GIVEN;
    private static final VarHandle REFUSED;
    // more than can be under way, so that none of those is overwritten
    private static final int LAST = 4 * GpuWork.MOST_LAUNCHES;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            GIVEN = lookup.findVarHandle(GpuWorkFigures.class, "given", long.class);
            REFUSED = lookup.findVarHandle(GpuWorkFigures.class, "refused", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final GpuStream stream;
    private final long[] begun;
    private final long[] amounts;
    // those of which the stream has all parts
    private final long[] complete;
    // the last works that the stream was given: their numbers, and what they are
    private final long[] numbers = new long[LAST];
    private final Tally[] tallies = new Tally[LAST];

    @SuppressWarnings("unused") // by its handle
    private long given;

    @SuppressWarnings("unused") // by its handle
    private long refused;

    // of the readers, guarded by this: what they were told
    private final long[] told;

    /**
     * What work is: how many things of each kind, and their amount, such as bytes. Immutable.
     */
    public static final class Tally {
        private final int[] kinds;
        private final int[] counts;
        private final long[] amounts;

        private Tally(int[] kinds, int[] counts, long[] amounts) {
            this.kinds = kinds;
            this.counts = counts;
            this.amounts = amounts;
        }

        /**
         * Returns that of one thing.
         *
         * @param kind 0 or more
         * @param amount 0 or more, in any unit
         * @return the tally
         */
        public static Tally of(int kind, long amount) {
            return new Tally(new int[] {kind}, new int[] {1}, new long[] {amount});
        }

        /**
         * Returns that of several.
         *
         * @param parts one may be there several times
         * @return the tally of all
         */
        public static Tally of(List<Tally> parts) {
            int[] kinds = parts.stream()
                    .flatMapToInt(part -> Arrays.stream(part.kinds))
                    .distinct()
                    .toArray();
            int[] counts = new int[kinds.length];
            long[] amounts = new long[kinds.length];
            for (Tally part : parts) {
                for (int i = 0; i < part.kinds.length; i++) {
                    int at = 0;
                    while (kinds[at] != part.kinds[i]) {
                        at++;
                    }
                    counts[at] += part.counts[i];
                    amounts[at] += part.amounts[i];
                }
            }
            return new Tally(kinds, counts, amounts);
        }

        private int count(int kind) {
            for (int i = 0; i < kinds.length; i++) {
                if (kinds[i] == kind) {
                    return counts[i];
                }
            }
            return 0;
        }
    }

    /**
     * Makes figures, all 0.
     *
     * @param stream what the works are submitted to
     * @param kinds how many there are
     */
    public GpuWorkFigures(GpuStream stream, int kinds) {
        this.stream = Objects.requireNonNull(stream, "stream");
        begun = new long[kinds];
        amounts = new long[kinds];
        complete = new long[kinds];
        told = new long[kinds];
    }

    // ---- the thread that submits ----

    /**
     * Counts work that was submitted.
     *
     * @param what it is
     * @param number its number in the stream
     */
    public void started(Tally what, long number) {
        begun(what);
        completed(what, number);
    }

    /**
     * Counts work whose first part was submitted, and whose last part is to come.
     *
     * @param what it is, in whole
     */
    public void begun(Tally what) {
        for (int i = 0; i < what.kinds.length; i++) {
            int kind = what.kinds[i];
            add(begun, kind, what.counts[i]);
            add(amounts, kind, what.amounts[i]);
        }
    }

    /**
     * Counts that the last part of work was submitted.
     *
     * @param what it is, in whole
     * @param number the part's number in the stream
     */
    public void completed(Tally what, long number) {
        long before = (long) GIVEN.getOpaque(this);
        int slot = (int) (before % LAST);
        LONG.setOpaque(numbers, slot, number);
        TALLY.setRelease(tallies, slot, what);
        GIVEN.setRelease(this, before + 1);
        // behind the number: who reads meanwhile takes it for one that is under way
        for (int i = 0; i < what.kinds.length; i++) {
            add(complete, what.kinds[i], what.counts[i]);
        }
    }

    /** Counts a submission that has thrown. */
    public void refused() {
        REFUSED.setOpaque(this, (long) REFUSED.getOpaque(this) + 1);
    }

    private static void add(long[] to, int at, long more) {
        LONG.setRelease(to, at, (long) LONG.getOpaque(to, at) + more);
    }

    // ---- any thread ----

    /**
     * Returns how many things of a kind were started.
     *
     * @param kind 0 to the number of kinds − 1
     * @return a count
     */
    public long started(int kind) {
        return (long) LONG.getAcquire(begun, kind);
    }

    /**
     * Returns the amount of those.
     *
     * @param kind 0 to the number of kinds − 1
     * @return in the unit of the tallies
     */
    public long amount(int kind) {
        return (long) LONG.getAcquire(amounts, kind);
    }

    /**
     * Returns how many of them the stream is through with, whether they have succeeded or not.
     *
     * @param kind 0 to the number of kinds − 1
     * @return a count that never falls
     */
    public synchronized long ended(int kind) {
        long all = (long) LONG.getAcquire(complete, kind);
        long end = (long) GIVEN.getAcquire(this);
        long reached = stream.reached();
        long underWay = 0;
        for (long at = end - 1; at >= 0 && at >= end - LAST; at--) {
            int slot = (int) (at % LAST);
            Tally what = (Tally) TALLY.getAcquire(tallies, slot);
            if ((long) LONG.getOpaque(numbers, slot) <= reached) {
                break;
            }
            underWay += what.count(kind);
        }
        told[kind] = Math.max(told[kind], all - underWay);
        return told[kind];
    }

    /**
     * Returns how many submissions have thrown.
     *
     * @return a count
     */
    public long refusals() {
        return (long) REFUSED.getOpaque(this);
    }

    /**
     * Returns how many works the stream was given.
     *
     * @return a count
     */
    public long works() {
        return (long) GIVEN.getAcquire(this);
    }
}
