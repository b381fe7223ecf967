package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferPriority;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WaitingTransfersTest {
    private static final Duration AN_HOUR = Duration.ofHours(1);

    /** Memory whose bytes are never read. */
    private enum NoMemory implements LeasedMemory {
        INSTANCE;

        private static final RegionMemory NOTHING = RegionMemory.host(MemorySegment.NULL);

        @Override
        public @Nullable RegisteredMemory registration(int transport) {
            return null;
        }

        @Override
        public boolean acquire() {
            return true;
        }

        @Override
        public void release() {}

        @Override
        public RegionMemory memory() {
            return NOTHING;
        }
    }

    /** As if it was submitted now. */
    @SuppressWarnings("NullAway") // its flow is not asked for anything here
    private static DataTransfer submitted(TransferPriority priority) {
        DataTransfer transfer = new SingleTransfer(
                null,
                WorkRequest.Opcode.READ,
                new ElementPlan(NoMemory.INSTANCE, 0, new RemoteKey(0, 0, 0), 0, 8),
                TransferOptions.defaults().withPriority(priority),
                (ended, error) -> {});
        long before = System.nanoTime();
        while (System.nanoTime() == before) {
            Thread.onSpinWait();
        }
        transfer.reset();
        return transfer;
    }

    private static List<DataTransfer> drain(WaitingTransfers waiting) {
        List<DataTransfer> order = new ArrayList<>();
        DataTransfer next;
        while ((next = waiting.next(0)) != null) {
            waiting.remove(next);
            order.add(next);
        }
        assertThat(waiting.isEmpty()).isTrue();
        return order;
    }

    @Test
    void higherPriorityGoesFirstAndWithinOneTheFirstComer() {
        WaitingTransfers waiting = new WaitingTransfers(AN_HOUR, 1);
        DataTransfer low = submitted(TransferPriority.LOW);
        DataTransfer normal = submitted(TransferPriority.NORMAL);
        DataTransfer high = submitted(TransferPriority.HIGH);
        DataTransfer secondLow = submitted(TransferPriority.LOW);
        DataTransfer secondHigh = submitted(TransferPriority.HIGH);
        for (DataTransfer transfer : List.of(low, normal, high, secondLow, secondHigh)) {
            waiting.append(transfer, 0);
        }
        assertThat(drain(waiting)).containsExactly(high, secondHigh, normal, low, secondLow);
    }

    @Test
    void withoutAgingTheFirstComerGoesFirstWhateverItsPriority() {
        WaitingTransfers waiting = new WaitingTransfers(Duration.ZERO, 1);
        DataTransfer low = submitted(TransferPriority.LOW);
        DataTransfer high = submitted(TransferPriority.HIGH);
        DataTransfer normal = submitted(TransferPriority.NORMAL);
        for (DataTransfer transfer : List.of(low, high, normal)) {
            waiting.append(transfer, 0);
        }
        assertThat(drain(waiting)).containsExactly(low, high, normal);
    }

    @Test
    void onceItHasAgedItGoesBeforeWhatIsYounger() {
        Duration aging = Duration.ofMillis(20);
        WaitingTransfers waiting = new WaitingTransfers(aging, 1);
        DataTransfer low;
        DataTransfer high;
        // again if this thread was held up between the two
        do {
            low = submitted(TransferPriority.LOW);
            high = submitted(TransferPriority.HIGH);
        } while (high.submittedAt() - low.submittedAt() > aging.toNanos() / 2);
        Patience.pause(aging.multipliedBy(3));
        DataTransfer young = submitted(TransferPriority.HIGH);
        for (DataTransfer transfer : List.of(low, high, young)) {
            waiting.append(transfer, 0);
        }
        assertThat(drain(waiting)).containsExactly(high, low, young);
    }

    @Test
    void whatIsOverdueAndWhatIsUrgentTakeTurns() {
        WaitingTransfers waiting = new WaitingTransfers(Duration.ofMillis(1), 1);
        List<DataTransfer> old = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            old.add(submitted(i % 2 == 0 ? TransferPriority.LOW : TransferPriority.NORMAL));
        }
        Patience.pause(Duration.ofMillis(10));
        List<DataTransfer> urgent = List.of(
                submitted(TransferPriority.HIGH), submitted(TransferPriority.HIGH), submitted(TransferPriority.HIGH));
        old.forEach(transfer -> waiting.append(transfer, 0));
        urgent.forEach(transfer -> waiting.append(transfer, 0));
        List<DataTransfer> order = new ArrayList<>();
        DataTransfer next;
        while ((next = waiting.next(0)) != null) {
            waiting.remove(next);
            waiting.tookTurn();
            order.add(next);
        }
        assertThat(order).hasSize(7).containsAll(old);
        assertThat(List.of(order.get(1), order.get(3), order.get(5))).isEqualTo(urgent);
    }

    @Test
    void insertedTakesThePlaceOfItsSubmission() {
        WaitingTransfers waiting = new WaitingTransfers(AN_HOUR, 1);
        DataTransfer first = submitted(TransferPriority.NORMAL);
        DataTransfer second = submitted(TransferPriority.NORMAL);
        DataTransfer third = submitted(TransferPriority.NORMAL);
        DataTransfer fourth = submitted(TransferPriority.NORMAL);
        waiting.append(second, 0);
        waiting.append(fourth, 0);
        waiting.insert(third, 0);
        waiting.insert(first, 0);
        waiting.insert(first, 0);
        assertThat(drain(waiting)).containsExactly(first, second, third, fourth);
    }

    @Test
    void thoseOfAllPathsGoInOneOrderAndThoseOfOneThatIsPassedOverHoldUpNoOther() {
        WaitingTransfers waiting = new WaitingTransfers(AN_HOUR, 3);
        List<DataTransfer> all = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            all.add(submitted(TransferPriority.NORMAL));
            waiting.append(all.get(i), i % 3);
        }
        assertThat(waiting.next(0)).isSameAs(all.get(0));
        assertThat(waiting.next(0b001)).isSameAs(all.get(1));
        assertThat(waiting.next(0b011)).isSameAs(all.get(2));
        assertThat(waiting.next(0b111)).isNull();
        DataTransfer urgent = submitted(TransferPriority.HIGH);
        waiting.append(urgent, 2);
        assertThat(waiting.next(0b011)).isSameAs(urgent);
        assertThat(waiting.next(0b100)).isSameAs(all.get(0));
        waiting.move(all.get(0), 2);
        assertThat(waiting.next(0b101)).isSameAs(all.get(1));
        waiting.move(all.get(0), 2);
        all.addFirst(urgent);
        assertThat(drain(waiting)).containsExactlyElementsOf(all);
    }

    @Test
    void anyoneCanLeaveAtAnyTime() {
        Random random = new Random(7);
        WaitingTransfers waiting = new WaitingTransfers(AN_HOUR, 1);
        List<DataTransfer> model = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            if (random.nextInt(3) > 0 || model.isEmpty()) {
                DataTransfer transfer = submitted(TransferPriority.values()[random.nextInt(3)]);
                waiting.append(transfer, 0);
                model.add(transfer);
            } else {
                DataTransfer leaving = model.remove(random.nextInt(model.size()));
                waiting.remove(leaving);
                waiting.remove(leaving);
            }
        }
        model.sort(
                Comparator.<DataTransfer>comparingInt(t -> t.options.priority().ordinal())
                        .thenComparingLong(DataTransfer::submittedAt));
        assertThat(drain(waiting)).containsExactlyElementsOf(model);
    }
}
