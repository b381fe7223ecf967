package io.sluice.collectives.run;

import io.sluice.collectives.link.Link;
import io.sluice.collectives.mapped.MappedSteps;
import io.sluice.collectives.plan.Plan;
import io.sluice.collectives.plan.Step;
import io.sluice.collectives.reduce.Reducer;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A collective on this rank: takes the steps of its plan, each when it can. Submitted from any thread; the rest is the
 * loop's. A run can be submitted again once it has ended, and allocates nothing then.
 */
public final class Run extends Pending {
    /** {@link #advance} returns it when all steps are taken and nothing is under way. */
    static final int DONE = -1;

    private static final int ONE_STEP = 1 << 10;
    private static final long MOST_BYTES_OF_A_SHORT_RUN = 16 << 10;
    // instead of a message's number
    private static final long WAITS = -1;
    private static final long COPIED = -2;

    private final Plan plan;
    private final StepWork work;
    private final Signature signature;
    private final TransferOptions options;
    private final int[] nextWaiting;
    // the number of the message that a step has sent
    private final long[] messages;
    // of a run that is started again and again, by step and slot
    private final @Nullable PreparedTransfer @Nullable [] @Nullable [] prepared;
    private final int pinnedChannel;
    private @Nullable MappedSteps mapped;
    private @Nullable Caller caller;
    private volatile boolean goesAnotherWay;

    private long number;
    private long headerWord;
    private int position;
    // how much of the current step is done, in bytes
    private long sliced;
    // since the last drain
    private boolean sendsOutOfMemory;
    private int awaited = -1;
    private int lastPosition = -1;
    private @Nullable Link awaitedLink;
    private boolean slotsAwaited;
    private long done;
    private volatile long processed;
    // the next on the channel
    @Nullable
    Run next;

    /**
     * Says what ranks must agree on.
     *
     * @param header the first word of the header, without number and history
     * @param elementBytes the length of an element
     * @param type the type's code
     * @param operation the operation's code
     * @param size the number of ranks
     * @param count what all ranks agree on
     * @param sent instead of the count: what this rank sends to each, or {@code null}
     * @param received instead of the count: what this rank receives from each, or {@code null}
     */
    public record Signature(
            long header,
            int elementBytes,
            int type,
            int operation,
            int size,
            long count,
            long @Nullable [] sent,
            long @Nullable [] received) {

        long sentTo(int peer) {
            long[] counts = sent;
            return counts == null ? count : counts[peer];
        }

        long receivedFrom(int peer) {
            long[] counts = received;
            return counts == null ? count : counts[peer];
        }
    }

    /**
     * Creates a run.
     *
     * @param work memory for intermediate results, as much as the plan needs
     * @param channel for a run that is submitted more than once, the channel of all its runs; -1 for one that is
     *     submitted once, which uses any
     */
    public Run(
            Plan plan,
            Memory source,
            Memory target,
            Memory work,
            Signature signature,
            Reducer reducer,
            TransferOptions options,
            int channel,
            RunEnd end) {
        super(end);
        this.plan = plan;
        this.work = new StepWork(source, target, work, signature, reducer);
        this.signature = signature;
        this.options = options;
        this.nextWaiting = new int[plan.size()];
        this.messages = new long[plan.size()];
        this.prepared = channel < 0 ? null : new PreparedTransfer[plan.size()][];
        this.pinnedChannel = channel;
    }

    /** Reads the memory of the other ranks, if all can be read. The plan counts otherwise. Before it is submitted. */
    public void reads(MappedSteps steps) {
        mapped = steps;
        caller = new Caller();
    }

    /** Lets other threads reduce what is large. Before it is submitted. */
    public void helpedBy(HelperThreads helpers) {
        work.helpedBy(helpers);
    }

    /** Whether the plan counts, though the memory of other ranks was to be read; any thread. */
    public boolean goesAnotherWay() {
        return goesAnotherWay;
    }

    private final class Caller implements MappedSteps.Caller {
        @Override
        public void check(Link link) {
            Run.this.check(link);
        }

        @Override
        public long header() {
            return headerWord;
        }

        @Override
        public long countTo(int peer) {
            return signature.sentTo(peer);
        }

        @Override
        public long number() {
            return number;
        }
    }

    /** Returns how many bytes have arrived and are processed; any thread. */
    public long processed() {
        return processed;
    }

    /** The channel of all its runs, or -1. */
    int pinnedChannel() {
        return pinnedChannel;
    }

    @Override
    String text() {
        return "collective " + number;
    }

    @Override
    int awaited() {
        MappedSteps steps = mapped;
        return (steps == null || goesAnotherWay) ? awaited : steps.awaited();
    }

    /** Whether it waits for a rank. */
    boolean needs(int rank) {
        MappedSteps steps = mapped;
        return (steps == null || goesAnotherWay) ? awaited == rank : steps.needs(rank);
    }

    @Override
    boolean isShort() {
        return plan.receivedBytes() <= MOST_BYTES_OF_A_SHORT_RUN;
    }

    /** Gives the run its number, and says what was called before. */
    void numbered(long value, int history) {
        number = value;
        headerWord = Header.numbered(signature.header, value, history);
        position = 0;
        sliced = 0;
        sendsOutOfMemory = false;
        lastPosition = -1;
        goesAnotherWay = false;
        MappedSteps steps = mapped;
        if (steps != null) {
            steps.reset();
        }
        reset();
        awaited = -1;
        awaitedLink = null;
        slotsAwaited = false;
        done = 0;
        processed = 0;
    }

    /** Whether it is where it was at the last such question. */
    boolean isWhereItWas() {
        boolean same = position == lastPosition;
        lastPosition = position;
        return same;
    }

    long number() {
        return number;
    }

    /** The first word of its headers. */
    long header() {
        return headerWord;
    }

    long count() {
        return signature.count;
    }

    /** Whether its plan awaits no rank. */
    boolean onlySends() {
        return !plan.receives();
    }

    /**
     * Takes steps.
     *
     * @param budget about how many bytes to process
     * @return the bytes processed; less than the budget if it must wait; {@link #DONE} at the end
     */
    int advance(@Nullable Link[] links, int budget) {
        MappedSteps steps = mapped;
        Caller asking = caller;
        if (steps == null || asking == null || goesAnotherWay) {
            return advanceByPlan(links, budget);
        }
        int result = steps.advance(asking, links, budget);
        if (result == MappedSteps.GOES_ANOTHER_WAY) {
            goesAnotherWay = true;
            return advanceByPlan(links, budget);
        }
        processed = (long) (plan.receivedBytes() * steps.progress());
        return result == MappedSteps.DONE ? DONE : result;
    }

    private int advanceByPlan(@Nullable Link[] links, int budget) {
        slotsAwaited = slotsAwaited && sendWaiting(links);
        int used = 0;
        while (used < budget) {
            if (position == plan.size()) {
                return !isUnderWay() && !waits(links) ? DONE : used;
            }
            Step step = plan.step(position);
            boolean possible = switch (step.kind()) {
                case SEND -> {
                    sendOrWait(to(links, step), position, step);
                    yield true;
                }
                case RECEIVE, REDUCE -> sliced > 0 || isThere(to(links, step), step);
                case DRAIN -> isDrained(links);
                case SENT -> hasEnded(to(links, step), (int) step.fromOffset());
                case COPY, COMBINE, DIVIDE -> true;
            };
            if (!possible) {
                return used;
            }
            int taken = take(links, step);
            if (taken < 0) {
                return used;
            }
            used += taken;
            if (sliced == step.length()) {
                awaited = -1;
                awaitedLink = null;
                position++;
                sliced = 0;
                used += ONE_STEP;
            }
        }
        return used;
    }

    /** Takes the next slice of a step; of one that only sends or waits, all. Returns its length; -1 while helpers do it. */
    private int take(@Nullable Link[] links, Step step) {
        Link link = step.receives() ? to(links, step) : null;
        MemorySegment message = link == null ? MemorySegment.NULL : link.memory();
        long messageAt = link == null ? 0 : payloadAt(link, step);
        int length;
        if (work.isForHelpers(step)) {
            if (!work.isDoneByHelpers(step, message, messageAt)) {
                // nothing of this rank's is looked for meanwhile
                awaitedLink = null;
                return -1;
            }
            length = (int) step.length();
        } else {
            length = work.take(step, sliced, message, messageAt);
        }
        sliced += length;
        if (link != null) {
            endMessage(link, step);
        }
        return length;
    }

    @Override
    boolean isUnderWay() {
        return super.isUnderWay() || work.isUnderWay();
    }

    @Override
    void abandon() {
        work.abandon();
    }

    /** Whether it waits for something that peers store or write, and that it must look for. */
    boolean looks() {
        MappedSteps steps = mapped;
        if (steps != null && !goesAnotherWay) {
            return steps.looks();
        }
        return slotsAwaited || awaitedLink != null;
    }

    /** Whether something has come that it looks for. */
    boolean isReady(@Nullable Link[] links) {
        if (work.isReady()) {
            return true;
        }
        MappedSteps steps = mapped;
        if (steps != null && !goesAnotherWay) {
            return steps.isReady(links);
        }
        Link awaitedNow = awaitedLink;
        if (awaitedNow != null && awaitedNow.hasArrived()) {
            return true;
        }
        if (slotsAwaited) {
            for (Link link : links) {
                if (link != null && link.firstWaiting() >= 0 && link.canSend()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Asks to be told of what it looks for, where the engine can tell. */
    void sleeps(@Nullable Link[] links) {
        Link awaitedNow = awaitedLink;
        if (awaitedNow != null) {
            awaitedNow.awaitArrival();
        }
        if (slotsAwaited) {
            for (Link link : links) {
                if (link != null && link.firstWaiting() >= 0) {
                    link.awaitSlot();
                }
            }
        }
    }

    private static Link to(@Nullable Link[] links, Step step) {
        return Objects.requireNonNull(links[step.peer()]);
    }

    /** Small messages are sent out of a copy. */
    private boolean isDrained(@Nullable Link[] links) {
        if (waits(links) || (sendsOutOfMemory && isUnderWay())) {
            return false;
        }
        sendsOutOfMemory = false;
        return true;
    }

    private boolean hasEnded(Link link, int step) {
        long message = messages[step];
        return message == COPIED || (message != WAITS && link.hasEnded(message));
    }

    private static boolean waits(@Nullable Link[] links) {
        for (Link link : links) {
            if (link != null && link.firstWaiting() >= 0) {
                return true;
            }
        }
        return false;
    }

    // ---- sending ----

    private void sendOrWait(Link link, int index, Step step) {
        if (link.firstWaiting() >= 0 || !send(link, index, step)) {
            link.addWaiting(index, nextWaiting);
            messages[index] = WAITS;
            slotsAwaited = true;
        }
    }

    /** Sends what waits for slots; returns whether some of it still does. */
    private boolean sendWaiting(@Nullable Link[] links) {
        boolean waits = false;
        for (Link link : links) {
            if (link != null && link.firstWaiting() >= 0) {
                sendWaiting(link);
                waits |= link.firstWaiting() >= 0;
            }
        }
        return waits;
    }

    private void sendWaiting(Link link) {
        while (link.firstWaiting() >= 0) {
            int index = link.firstWaiting();
            if (!send(link, index, plan.step(index))) {
                return;
            }
            link.removeWaiting(nextWaiting);
        }
    }

    private boolean send(Link link, int index, Step step) {
        if (!link.canSend()) {
            return false;
        }
        Memory from = work.memory(step.from());
        long offset = from.offset() + step.fromOffset();
        long count = signature.sentTo(link.peer());
        // counted after the call, which may throw; a message may end inside it
        if (step.length() <= link.smallBytes()) {
            messages[index] = COPIED;
            link.sendingFor(number);
            link.sendSmall(headerWord, count, from.segment(), offset, (int) step.length(), options);
            return true;
        }
        if (!link.sendsFor(number)) {
            link.sendingFor(number);
            link.sendSmall(headerWord, count, from.segment(), offset, 0, options);
            if (!link.canSend()) {
                return false;
            }
        }
        sendsOutOfMemory = true;
        messages[index] = link.nextMessage();
        @Nullable PreparedTransfer @Nullable [] @Nullable [] transfers = prepared;
        if (transfers == null || link.isMapped()) {
            link.send(from.region(), offset, step.length(), options);
        } else {
            link.send(prepared(transfers, link, index, from.region(), offset, step.length()));
        }
        sendBegins(link);
        return true;
    }

    private void sendBegins(Link link) {
        if (!link.sendsAtOnce()) {
            sendBegins();
        }
    }

    /** The slots that a step meets repeat after some runs, so a transfer is kept for each. */
    private PreparedTransfer prepared(
            @Nullable PreparedTransfer[] @Nullable [] prepared,
            Link link,
            int index,
            MemoryRegion from,
            long offset,
            long length) {
        @Nullable PreparedTransfer @Nullable [] bySlot = prepared[index];
        if (bySlot == null) {
            bySlot = new PreparedTransfer[link.slots()];
            prepared[index] = bySlot;
        }
        PreparedTransfer transfer = bySlot[link.nextSlot()];
        if (transfer == null) {
            transfer = link.prepare(from, offset, length, options);
            bySlot[link.nextSlot()] = transfer;
        }
        return transfer;
    }

    // ---- receiving ----

    /** Whether the message of a step has arrived; its header is checked. */
    private boolean isThere(Link link, Step step) {
        boolean small = isSmall(link, step);
        if (small || !link.receivesFor(number)) {
            if (!hasArrived(link)) {
                return false;
            }
            check(link);
            link.receivingFor(number);
            if (!small) {
                link.release();
            }
        }
        return small || hasArrived(link);
    }

    private static long payloadAt(Link link, Step step) {
        return isSmall(link, step) ? link.smallAt(step.length()) : link.largeAt();
    }

    private static boolean isSmall(Link link, Step step) {
        return step.length() <= link.smallBytes();
    }

    private void endMessage(Link link, Step step) {
        if (sliced == step.length()) {
            link.release();
            done += step.length();
            processed = done;
        }
    }

    private boolean hasArrived(Link link) {
        if (link.hasArrived()) {
            return true;
        }
        awaited = link.peer();
        awaitedLink = link;
        return false;
    }

    private void check(Link link) {
        long count = signature.receivedFrom(link.peer());
        if (link.header() != headerWord || link.headerCount() != count) {
            throw new HeaderMismatch(link.peer(), headerWord, count, link.header(), link.headerCount());
        }
    }
}
