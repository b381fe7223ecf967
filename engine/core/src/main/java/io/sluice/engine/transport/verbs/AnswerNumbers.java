package io.sluice.engine.transport.verbs;

import java.util.Arrays;

/** A queue of primitive numbers; allocates only to grow. */
final class AnswerNumbers {
    private long[] numbers = new long[16];
    private int head;
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** Returns the oldest number; the queue must not be empty. */
    long first() {
        return numbers[head];
    }

    void add(long number) {
        if (size == numbers.length) {
            long[] grown = Arrays.copyOf(numbers, size * 2);
            // the part before the head follows the part behind it
            System.arraycopy(numbers, 0, grown, size, head);
            numbers = grown;
        }
        numbers[(head + size++) & (numbers.length - 1)] = number;
    }

    void removeFirst() {
        head = (head + 1) & (numbers.length - 1);
        size--;
    }

    void clear() {
        size = 0;
    }
}
