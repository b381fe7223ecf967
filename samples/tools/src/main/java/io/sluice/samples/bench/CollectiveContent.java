package io.sluice.samples.bench;

import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/**
 * What the ranks give to collectives, and what must come of it. Each rank has a table of small numbers of its own. An operation takes
 * elements from a place in it that is another one for the next operation; the length of the tables is a prime, so that neither a
 * stale result nor a part of it in a wrong place looks right. Sums of all ranks are exact in every type.
 */
final class CollectiveContent implements AutoCloseable {
    /** The prime. */
    static final int LENGTH = 65_521;

    private static final int STEP = 7_919;
    private static final long SEED = 0x51_0ce;
    private static final byte POISON = (byte) 0xa5;

    /** So many ranks give factors of 2; their product is finite in every type. */
    private static final int MOST_FACTORS = 14;

    private final ElementType type;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment[] ranks;
    private final MemorySegment reduced;

    /** For all ranks of a team. */
    CollectiveContent(int size, ElementType type, ReduceOperation operation) {
        this.type = type;
        ranks = new MemorySegment[size];
        long[][] values = values(size, type, operation);
        for (int rank = 0; rank < size; rank++) {
            ranks[rank] = encoded(values[rank]);
        }
        reduced = encoded(reduced(values, operation));
    }

    private static long[][] values(int size, ElementType type, ReduceOperation operation) {
        long most = Math.max(1, largest(type) / size - 1);
        long[][] values = new long[size][LENGTH];
        for (int rank = 0; rank < size; rank++) {
            SplittableRandom random = new SplittableRandom(SEED + rank);
            for (int i = 0; i < LENGTH; i++) {
                values[rank][i] = operation == ReduceOperation.PRODUCT
                        ? 1 + (rank < MOST_FACTORS ? random.nextInt(2) : 0)
                        : 1 + random.nextLong(most);
            }
        }
        if (operation == ReduceOperation.AVERAGE) {
            for (int i = 0; i < LENGTH; i++) {
                long sum = 0;
                for (int rank = 1; rank < size; rank++) {
                    sum += values[rank][i];
                }
                // Then the average is a whole number.
                values[0][i] = size - sum % size;
            }
        }
        return values;
    }

    /** A whole number such that all from 1 to it are exact. */
    private static long largest(ElementType type) {
        return switch (type) {
            case INT8, UINT8 -> Byte.MAX_VALUE;
            case BFLOAT16 -> 1L << 8;
            case FLOAT16 -> 1L << 11;
            case INT32, UINT32, INT64, UINT64, FLOAT32, FLOAT64 -> 1L << 20;
        };
    }

    private static long[] reduced(long[][] values, ReduceOperation operation) {
        long[] results = values[0].clone();
        for (int rank = 1; rank < values.length; rank++) {
            for (int i = 0; i < LENGTH; i++) {
                long value = values[rank][i];
                results[i] = switch (operation) {
                    case SUM, AVERAGE -> results[i] + value;
                    case PRODUCT -> results[i] * value;
                    case MIN -> Math.min(results[i], value);
                    case MAX -> Math.max(results[i], value);
                };
            }
        }
        if (operation == ReduceOperation.AVERAGE) {
            for (int i = 0; i < LENGTH; i++) {
                results[i] /= values.length;
            }
        }
        return results;
    }

    private MemorySegment encoded(long[] values) {
        MemorySegment table = arena.allocate((long) LENGTH * type.bytes(), Long.BYTES);
        for (int i = 0; i < LENGTH; i++) {
            long value = values[i];
            switch (type) {
                case INT8, UINT8 -> table.set(ValueLayout.JAVA_BYTE, i, (byte) value);
                case INT32, UINT32 -> table.setAtIndex(ValueLayout.JAVA_INT, i, (int) value);
                case INT64, UINT64 -> table.setAtIndex(ValueLayout.JAVA_LONG, i, value);
                case FLOAT16 -> table.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(value));
                case BFLOAT16 ->
                    table.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (Float.floatToIntBits(value) >>> Short.SIZE));
                case FLOAT32 -> table.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
                case FLOAT64 -> table.setAtIndex(ValueLayout.JAVA_DOUBLE, i, value);
            }
        }
        return table;
    }

    /** The elements that a rank gives. */
    Expected of(int rank) {
        return new Expected(ranks[rank]);
    }

    /** The reduction of all ranks' elements. */
    Expected reduced() {
        return new Expected(reduced);
    }

    /** Fills memory with what is in no table. */
    static void poison(MemorySegment memory) {
        memory.fill(POISON);
    }

    @Override
    public void close() {
        arena.close();
    }

    /** One table's elements, in the order in which an operation has them. */
    final class Expected {
        private final MemorySegment table;

        private Expected(MemorySegment table) {
            this.table = table;
        }

        /**
         * Copies elements into memory.
         *
         * @param operation its number
         * @param first the place of the first element among all of the operation
         */
        void put(long operation, long first, MemorySegment memory) {
            long position = position(operation, first);
            for (long done = 0; done < memory.byteSize(); ) {
                long bytes = Math.min(memory.byteSize() - done, table.byteSize() - position);
                MemorySegment.copy(table, position, memory, done, bytes);
                done += bytes;
                position = 0;
            }
        }

        /** Whether memory holds exactly these elements. */
        boolean isIn(long operation, long first, MemorySegment memory) {
            long position = position(operation, first);
            for (long done = 0; done < memory.byteSize(); ) {
                long bytes = Math.min(memory.byteSize() - done, table.byteSize() - position);
                if (MemorySegment.mismatch(table, position, position + bytes, memory, done, done + bytes) >= 0) {
                    return false;
                }
                done += bytes;
                position = 0;
            }
            return true;
        }

        private long position(long operation, long first) {
            return (operation % LENGTH * STEP + first) % LENGTH * type.bytes();
        }
    }
}
