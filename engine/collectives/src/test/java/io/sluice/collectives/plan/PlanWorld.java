package io.sluice.collectives.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.collectives.plan.Step.Buffer;
import io.sluice.collectives.reduce.OperationCode;
import io.sluice.collectives.reduce.PlainReducer;
import io.sluice.collectives.reduce.TypeCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * All ranks of a collective of 64-bit elements, interpreted on one thread in a random order. A message is read either when
 * it is sent, or as late as its plan allows.
 */
final class PlanWorld {
    private static final int SLOTS = 2;
    private static final PlainReducer REDUCER = new PlainReducer();

    private final List<Plan> plans;
    private final List<MemorySegment> sources;
    private final List<MemorySegment> targets;
    private final List<MemorySegment> works = new ArrayList<>();
    private final List<List<Deque<Message>>> queues = new ArrayList<>();
    private final int[] positions;
    private final boolean late;
    private final Random random;
    private final int type;

    private final class Message {
        private final int sender;
        private final Step step;
        private byte @Nullable [] bytes;

        Message(int sender, Step step) {
            this.sender = sender;
            this.step = step;
            if (!late) {
                read();
            }
        }

        byte[] read() {
            byte[] known = bytes;
            if (known == null) {
                known = buffer(sender, step.from())
                        .asSlice(step.fromOffset(), step.length())
                        .toArray(ValueLayout.JAVA_BYTE);
                bytes = known;
            }
            return known;
        }
    }

    PlanWorld(List<Plan> plans, List<MemorySegment> sources, List<MemorySegment> targets, boolean late, Random random) {
        this(plans, sources, targets, late, random, TypeCode.INT64);
    }

    /** With elements of another type of 64 bits. */
    PlanWorld(
            List<Plan> plans,
            List<MemorySegment> sources,
            List<MemorySegment> targets,
            boolean late,
            Random random,
            int type) {
        this.type = type;
        this.plans = plans;
        this.sources = sources;
        this.targets = targets;
        this.positions = new int[plans.size()];
        this.late = late;
        this.random = random;
        for (Plan plan : plans) {
            works.add(MemorySegment.ofArray(new byte[(int) plan.workBytes()]));
            List<Deque<Message>> row = new ArrayList<>();
            plans.forEach(other -> row.add(new ArrayDeque<>()));
            queues.add(row);
        }
    }

    private MemorySegment buffer(int rank, Buffer buffer) {
        return switch (buffer) {
            case SOURCE -> sources.get(rank);
            case TARGET -> targets.get(rank);
            case WORK -> works.get(rank);
        };
    }

    void run() {
        int size = plans.size();
        int idle = 0;
        int rank = 0;
        while (idle < size) {
            rank = (rank + 1) % size;
            int most = 1 + random.nextInt(20);
            boolean moved = false;
            while (most-- > 0 && positions[rank] < plans.get(rank).size() && take(rank)) {
                moved = true;
            }
            idle = moved ? 0 : idle + 1;
        }
        for (int i = 0; i < size; i++) {
            if (positions[i] < plans.get(i).size()) {
                fail("rank " + i + " of " + size + " hangs at " + plans.get(i).step(positions[i]));
            }
            for (Deque<Message> queue : queues.get(i)) {
                assertThat(queue)
                        .as("messages of rank %d that were not received", i)
                        .isEmpty();
            }
        }
    }

    private boolean take(int rank) {
        Step step = plans.get(rank).step(positions[rank]);
        boolean taken = switch (step.kind()) {
            case SEND -> queues.get(rank).get(step.peer()).add(new Message(rank, step));
            case RECEIVE, REDUCE -> receive(rank, step);
            case COPY -> {
                MemorySegment.copy(
                        buffer(rank, step.from()),
                        step.fromOffset(),
                        buffer(rank, step.to()),
                        step.toOffset(),
                        step.length());
                yield true;
            }
            case COMBINE -> {
                MemorySegment to = buffer(rank, step.to());
                REDUCER.reduce(
                        type,
                        OperationCode.SUM,
                        to,
                        step.toOffset(),
                        buffer(rank, step.from()),
                        step.fromOffset(),
                        to,
                        step.toOffset(),
                        step.length() / Long.BYTES);
                yield true;
            }
            case DRAIN -> {
                boolean drained = queues.get(rank).stream().allMatch(queue -> queue.size() <= SLOTS);
                if (drained) {
                    queues.get(rank).forEach(queue -> queue.forEach(Message::read));
                }
                yield drained;
            }
            case SENT -> hasLeft(rank, step);
            case DIVIDE -> {
                REDUCER.divide(
                        type, buffer(rank, step.to()), step.toOffset(), step.length() / Long.BYTES, plans.size());
                yield true;
            }
        };
        positions[rank] += taken ? 1 : 0;
        return taken;
    }

    /** Whether a message is taken, or has a slot to be read into. */
    @SuppressWarnings("ReferenceEquality") // a step of a plan is its own identity
    private boolean hasLeft(int rank, Step wait) {
        Step sent = plans.get(rank).step((int) wait.fromOffset());
        int place = 0;
        for (Message message : queues.get(rank).get(wait.peer())) {
            if (message.step == sent) {
                if (place < SLOTS) {
                    message.read();
                }
                return place < SLOTS;
            }
            place++;
        }
        return true;
    }

    private boolean receive(int rank, Step step) {
        Message message = queues.get(step.peer()).get(rank).poll();
        if (message == null) {
            return false;
        }
        byte[] bytes = message.read();
        assertThat(bytes.length)
                .as("a message from rank %d to rank %d, for %s", step.peer(), rank, step)
                .isEqualTo((int) step.length());
        MemorySegment arrived = MemorySegment.ofArray(bytes);
        MemorySegment to = buffer(rank, step.to());
        if (step.kind() == Step.Kind.RECEIVE) {
            MemorySegment.copy(arrived, 0, to, step.toOffset(), step.length());
        } else {
            MemorySegment operand = buffer(rank, step.from());
            REDUCER.reduce(
                    type,
                    OperationCode.SUM,
                    to,
                    step.toOffset(),
                    step.messageFirst() ? arrived : operand,
                    step.messageFirst() ? 0 : step.fromOffset(),
                    step.messageFirst() ? operand : arrived,
                    step.messageFirst() ? step.fromOffset() : 0,
                    step.length() / Long.BYTES);
        }
        return true;
    }
}
