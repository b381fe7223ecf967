package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Transfers of all kinds in one direction of a connection, one after the other in many chains, while a test breaks things. It
 * finds out what arrived damaged, in the wrong place, in the wrong order, twice, or not at all: each slot is written and read
 * back, each word that is added to counts, and each notification carries its number.
 */
final class MixedLoad {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();
    private static final int[] SLOT_BYTES = {8, 200, 4096, 4096, 10_000, 65_536, 65_536, 300_000};
    private static final int SIGNAL_CHAINS = 4;
    private static final int NOTIFICATIONS_UNDER_WAY = 4;
    private static final int NOTIFICATION_BYTES = 1100;

    private final Connection out;
    private final MemoryRegion source;
    private final MemoryRegion back;
    private final MemoryRegion served;
    private final MemoryRegion words;
    private final RemoteRegion remote;
    private final RemoteRegion remoteWords;
    private final List<Chain> chains = new ArrayList<>();
    private final List<Chain> adding = new ArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicLong steps = new AtomicLong();
    private final ConcurrentLinkedQueue<SluiceException> errors = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
    private final Object numbering = new Object();
    private long notified;
    private final AtomicLong notificationsDone = new AtomicLong();
    private final AtomicLong notificationsSeen = new AtomicLong();
    private volatile boolean stopping;

    /**
     * Prepares it.
     *
     * @param from whose transfers they are
     * @param out the connection as that engine sees it
     * @param to the engine at the other end
     * @param in the connection as that one sees it
     */
    MixedLoad(TransferEngine from, Connection out, TransferEngine to, Connection in) {
        this(from, out, to, in, true);
    }

    private MixedLoad(TransferEngine from, Connection out, TransferEngine to, Connection in, boolean notifies) {
        this.out = out;
        int bytes = 0;
        for (int each : SLOT_BYTES) {
            // what lies between two slots must stay as it is
            bytes += each + 64;
        }
        source = from.allocate(bytes, RegionOptions.local());
        back = from.allocate(bytes, RegionOptions.local());
        served = to.allocate(bytes, RegionOptions.readWrite());
        words = to.allocate(64L * (SLOT_BYTES.length + 2 * SIGNAL_CHAINS), RegionOptions.readWrite());
        remote = Patience.await(out.attach(served.descriptor()));
        remoteWords = Patience.await(out.attach(words.descriptor()));
        int at = 0;
        for (int i = 0; i < SLOT_BYTES.length; i++) {
            chains.add(new Slot(at, SLOT_BYTES[i], i % 2 == 1));
            at += SLOT_BYTES[i] + 64;
        }
        for (int i = 0; i < SIGNAL_CHAINS; i++) {
            chains.add(new Signalling());
            chains.add(new Fetching(i % 2 == 1));
        }
        if (notifies) {
            for (int i = 0; i < NOTIFICATIONS_UNDER_WAY; i++) {
                chains.add(new Notifying());
            }
            in.subscribe(new Listener()).request(Long.MAX_VALUE);
        }
    }

    /** From the initiator of a pair to its target. */
    static MixedLoad of(VerbsPair pair) {
        return new MixedLoad(pair.initiator(), pair.connection(), pair.target(), pair.accepted());
    }

    /** The same load without notifications, of which a connection has one listener. */
    static MixedLoad silent(VerbsPair pair) {
        return new MixedLoad(pair.initiator(), pair.connection(), pair.target(), pair.accepted(), false);
    }

    /** The other way. */
    static MixedLoad back(VerbsPair pair) {
        return new MixedLoad(pair.target(), pair.accepted(), pair.initiator(), pair.connection());
    }

    MixedLoad start() {
        running.set(chains.size());
        chains.forEach(Chain::next);
        return this;
    }

    /** How many transfers have ended with success. */
    long steps() {
        return steps.get();
    }

    /** Waits until so many more have. */
    void awaitProgress(int more) {
        long before = steps();
        Patience.until("the load makes progress", () -> steps() >= before + more || running.get() < chains.size());
        assertUndisturbed();
    }

    /** Nothing has failed until now. */
    void assertUndisturbed() {
        assertThat(violations).isEmpty();
        if (!errors.isEmpty()) {
            throw new AssertionError(errors.size() + " transfers of the load failed", errors.peek());
        }
    }

    /** Ends it, and checks that all has succeeded and was carried out exactly once. */
    void stopAndCheck() {
        stop();
        assertUndisturbed();
        Patience.until("all notifications are delivered", () -> notificationsSeen.get() >= notificationsDone.get());
        assertThat(notificationsSeen).as("notifications").hasValue(notificationsDone.get());
        for (Chain chain : adding) {
            Patience.until(chain + " is counted", () -> words.signal(chain.word).value() >= chain.added);
            assertThat(words.signal(chain.word).value()).as(chain.toString()).isEqualTo(chain.added);
        }
        assertGapsUntouched();
        assertThat(violations).isEmpty();
    }

    /** Ends it; what was under way when something broke for good has ended, once, with these errors. */
    List<SluiceException> stop() {
        stopping = true;
        Patience.until("every chain ends", () -> running.get() == 0);
        assertThat(violations).isEmpty();
        return List.copyOf(errors);
    }

    /** Waits until every chain has met an error. */
    List<SluiceException> awaitEnd() {
        Patience.until("every transfer ends", () -> running.get() == 0);
        assertThat(violations).isEmpty();
        return List.copyOf(errors);
    }

    /** After a failure: of each chain one transfer at most was under way, and may have been carried out. */
    void assertNothingWasDoneTwice() {
        for (Chain chain : adding) {
            Patience.until(chain + " is counted", () -> words.signal(chain.word).value() >= chain.added);
            assertThat(words.signal(chain.word).value()).as(chain.toString()).isBetween(chain.added, chain.added + 1);
        }
        Patience.until("all notifications are delivered", () -> notificationsSeen.get() >= notificationsDone.get());
        assertThat(notificationsSeen.get())
                .as("notifications")
                .isBetween(notificationsDone.get(), notificationsDone.get() + NOTIFICATIONS_UNDER_WAY);
        assertGapsUntouched();
    }

    private void assertGapsUntouched() {
        int at = 0;
        for (int each : SLOT_BYTES) {
            at += each;
            assertThat(served.segment().asSlice(at, 64).toArray(ValueLayout.JAVA_BYTE))
                    .as("what lies behind a slot")
                    .containsOnly(0);
            at += 64;
        }
    }

    /** One transfer after the other. */
    private abstract class Chain {
        private final long word;
        private long added;

        Chain(boolean adds) {
            word = 64L * adding.size();
            if (adds) {
                adding.add(this);
            }
        }

        final long word() {
            return word;
        }

        final long added() {
            return added;
        }

        final RemoteSignal signal() {
            return new RemoteSignal(remoteWords, word);
        }

        final void hasAdded() {
            added++;
        }

        final void next() {
            if (stopping) {
                running.decrementAndGet();
                return;
            }
            Step step = new Step(this);
            try {
                submit(step);
            } catch (TooManyPendingException e) {
                violations.add(e.toString());
                running.decrementAndGet();
            } catch (SluiceException e) {
                step.terminated(null, e);
            }
        }

        abstract void submit(Step step);

        /** The transfer has succeeded. */
        abstract void succeeded(long previous);

        @Override
        public String toString() {
            return getClass().getSimpleName() + " of word " + word;
        }
    }

    /** A transfer of a chain, which ends once. */
    private final class Step implements TransferCallback, FetchCallback {
        private final Chain chain;
        private final AtomicBoolean ended = new AtomicBoolean();

        Step(Chain chain) {
            this.chain = chain;
        }

        @Override
        public void terminated(@Nullable Transfer transfer, @Nullable SluiceException error) {
            ended(0, error);
        }

        @Override
        public void terminated(Transfer transfer, long previous, @Nullable SluiceException error) {
            ended(previous, error);
        }

        private void ended(long previous, @Nullable SluiceException error) {
            if (ended.getAndSet(true)) {
                violations.add(chain + " ended twice");
                return;
            }
            if (error != null) {
                errors.add(error);
                running.decrementAndGet();
                return;
            }
            chain.succeeded(previous);
            steps.incrementAndGet();
            chain.next();
        }
    }

    /** Writes a slot, with a signal or without, reads it back, and compares. */
    private final class Slot extends Chain {
        private final long at;
        private final int bytes;
        private final boolean signals;
        private boolean written;
        private int generation;

        Slot(long at, int bytes, boolean signals) {
            super(signals);
            this.at = at;
            this.bytes = bytes;
            this.signals = signals;
        }

        @Override
        void submit(Step step) {
            if (written) {
                out.read(back, at, remote, at, bytes, DEFAULTS, step);
                return;
            }
            generation++;
            MemorySegment slot = source.segment().asSlice(at, bytes);
            slot.fill((byte) (generation | 1));
            for (int i = 0; i + 8 <= bytes; i += 512) {
                slot.set(ValueLayout.JAVA_LONG_UNALIGNED, i, (long) generation << 32 | i);
            }
            if (signals) {
                SignalUpdate update = at % 3 == 0 ? signal().strong() : signal().weak();
                out.writeWithSignal(source, at, remote, at, bytes, update, DEFAULTS, step);
            } else {
                out.write(source, at, remote, at, bytes, DEFAULTS, step);
            }
        }

        @Override
        void succeeded(long previous) {
            if (!written) {
                if (signals) {
                    hasAdded();
                }
            } else if (back.segment()
                            .asSlice(at, bytes)
                            .mismatch(source.segment().asSlice(at, bytes))
                    >= 0) {
                violations.add("the slot at " + at + " came back otherwise than it was written");
            }
            written = !written;
        }
    }

    /** Signals without bytes. */
    private final class Signalling extends Chain {
        Signalling() {
            super(true);
        }

        @Override
        void submit(Step step) {
            out.signal(added() % 2 == 0 ? signal().weak() : signal().strong(), DEFAULTS, step);
        }

        @Override
        void succeeded(long previous) {
            hasAdded();
        }
    }

    /** Atomic operations on a word with one writer. */
    private final class Fetching extends Chain {
        private final boolean swaps;

        Fetching(boolean swaps) {
            super(true);
            this.swaps = swaps;
        }

        @Override
        void submit(Step step) {
            if (swaps) {
                out.compareAndSwap(remoteWords, word(), added(), added() + 1, DEFAULTS, step);
            } else {
                out.fetchAdd(remoteWords, word(), 1, DEFAULTS, step);
            }
        }

        @Override
        void succeeded(long previous) {
            if (previous != added()) {
                violations.add(this + " fetched " + previous + " and not " + added());
            }
            hasAdded();
        }
    }

    /** Notifications, with a few on their way at any time. */
    private final class Notifying extends Chain {
        Notifying() {
            super(false);
        }

        @Override
        void submit(Step step) {
            synchronized (numbering) {
                out.notify(payload(notified), DEFAULTS, step);
                notified++;
            }
        }

        @Override
        void succeeded(long previous) {
            notificationsDone.incrementAndGet();
        }
    }

    private static byte[] payload(long number) {
        byte[] bytes = new byte[8 + (int) (number * 37 % NOTIFICATION_BYTES)];
        ByteBuffer.wrap(bytes).putLong(number);
        for (int i = 8; i < bytes.length; i++) {
            bytes[i] = (byte) (number + i);
        }
        return bytes;
    }

    private final class Listener implements NotificationListener {
        @Override
        public void notification(byte[] payload) {
            long expected = notificationsSeen.getAndIncrement();
            if (!Arrays.equals(payload, payload(expected))) {
                violations.add("notification " + expected + " is damaged, or is "
                        + ByteBuffer.wrap(payload).getLong());
            }
        }

        @Override
        public void ended(@Nullable SluiceException error) {}
    }
}
