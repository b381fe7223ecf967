package io.sluice.collectives.plan;

import io.sluice.collectives.plan.Step.Buffer;
import io.sluice.collectives.plan.Step.Kind;
import java.util.ArrayList;
import java.util.List;

/** Collects the steps of one rank. */
final class PlanBuilder {
    private final Shape shape;
    private final List<Step> steps = new ArrayList<>();
    private long workBytes;

    PlanBuilder(Shape shape) {
        this.shape = shape;
    }

    /** How many messages carry a range; an empty one is one empty message. */
    int messages(long length) {
        return (int) Math.max(1, (length + shape.chunkBytes() - 1) / shape.chunkBytes());
    }

    /** Where a message begins in its range. */
    long start(int message) {
        return message * shape.chunkBytes();
    }

    /** The length of a message of a range. */
    long length(int message, long length) {
        return Math.min(shape.chunkBytes(), length - start(message));
    }

    /** Sends a range in as many messages as it needs. */
    void send(int peer, Buffer from, long offset, long length) {
        for (int i = 0; i < messages(length); i++) {
            sendOne(peer, from, offset + start(i), length(i, length));
        }
    }

    /** Sends one message of a range, if it has so many; returns whether it has more. */
    boolean sendPart(int peer, Buffer from, long offset, long length, int message) {
        if (message < messages(length)) {
            sendOne(peer, from, offset + start(message), length(message, length));
        }
        return message + 1 < messages(length);
    }

    /** Sends one message; returns the index of the step. */
    int sendOne(int peer, Buffer from, long offset, long length) {
        steps.add(new Step(Kind.SEND, peer, from, offset, Buffer.TARGET, 0, length, false));
        return steps.size() - 1;
    }

    /** Waits until the source of a message, by the index of its step, may be changed. */
    void sent(int peer, int step) {
        steps.add(new Step(Kind.SENT, peer, Buffer.SOURCE, step, Buffer.TARGET, 0, 0, false));
    }

    /** Receives a range in as many messages as it needs. */
    void receive(int peer, Buffer to, long offset, long length) {
        for (int i = 0; i < messages(length); i++) {
            receiveOne(peer, to, offset + start(i), length(i, length));
        }
    }

    /** Receives one message of a range, if it has so many; returns whether it has more. */
    boolean receivePart(int peer, Buffer to, long offset, long length, int message) {
        if (message < messages(length)) {
            receiveOne(peer, to, offset + start(message), length(message, length));
        }
        return message + 1 < messages(length);
    }

    void receiveOne(int peer, Buffer to, long offset, long length) {
        steps.add(new Step(Kind.RECEIVE, peer, Buffer.SOURCE, 0, to, offset, length, false));
    }

    /** Receives one message and reduces it with the same range of a buffer. */
    void reduceOne(int peer, Buffer operand, Buffer to, long offset, long toOffset, long length, boolean messageFirst) {
        steps.add(new Step(Kind.REDUCE, peer, operand, offset, to, toOffset, length, messageFirst));
    }

    /** Receives a range in as many messages as it needs, and reduces it. */
    void reduce(int peer, Buffer operand, long offset, Buffer to, long toOffset, long length, boolean messageFirst) {
        for (int i = 0; i < messages(length); i++) {
            reduceOne(peer, operand, to, offset + start(i), toOffset + start(i), length(i, length), messageFirst);
        }
    }

    /** Reduces a range of one buffer, as the first operand, with that of another one, which gets the result. */
    void combine(Buffer from, Buffer to, long offset, long length) {
        if (length > 0) {
            steps.add(new Step(Kind.COMBINE, -1, from, offset, to, offset, length, true));
        }
    }

    void copy(Buffer from, long fromOffset, Buffer to, long toOffset, long length) {
        for (int i = 0; length > 0 && i < messages(length); i++) {
            steps.add(new Step(
                    Kind.COPY, -1, from, fromOffset + start(i), to, toOffset + start(i), length(i, length), false));
        }
    }

    void drain() {
        steps.add(new Step(Kind.DRAIN, -1, Buffer.SOURCE, 0, Buffer.TARGET, 0, 0, false));
    }

    /** Divides by the number of ranks, if the result is an average. */
    void divideIfAverage(long offset, long length) {
        for (int i = 0; shape.average() && length > 0 && i < messages(length); i++) {
            steps.add(new Step(
                    Kind.DIVIDE,
                    -1,
                    Buffer.TARGET,
                    offset + start(i),
                    Buffer.TARGET,
                    offset + start(i),
                    length(i, length),
                    false));
        }
    }

    /** Says how much memory {@link Buffer#WORK} needs. */
    void work(long bytes) {
        workBytes = Math.max(workBytes, bytes);
    }

    Plan build() {
        return new Plan(steps, workBytes);
    }
}
