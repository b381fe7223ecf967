package io.sluice.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The arguments of launches of one kernel, made once and changed between launches: a launch takes them over before it returns. The
 * garbage collector frees them. Not for several threads at once.
 */
public final class KernelArguments {
    private static final long ALIGNMENT = 16;

    private final List<Long> sizes;
    private final MemorySegment table;
    private final MemorySegment[] values;

    private KernelArguments(MemoryLayout[] parameters) {
        sizes = Arrays.stream(parameters).map(MemoryLayout::byteSize).toList();
        List<Long> offsets = new ArrayList<>();
        long end = aligned((long) parameters.length * Long.BYTES);
        for (MemoryLayout each : parameters) {
            offsets.add(end);
            end = aligned(end + each.byteSize());
        }
        MemorySegment memory = Arena.ofAuto().allocate(Math.max(end, ALIGNMENT), ALIGNMENT);
        table = memory;
        values = new MemorySegment[parameters.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = memory.asSlice(offsets.get(i), sizes.get(i));
            memory.setAtIndex(ValueLayout.JAVA_LONG, i, values[i].address());
        }
    }

    private static long aligned(long offset) {
        return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /**
     * Makes arguments, all 0.
     *
     * @param parameters the types of the kernel's parameters, in order: {@link ValueLayout#JAVA_LONG} for an address, or the layout
     *     of a structure
     * @return the arguments
     */
    public static KernelArguments of(MemoryLayout... parameters) {
        return new KernelArguments(parameters);
    }

    /**
     * Makes arguments of 64 bits each, such as addresses and lengths.
     *
     * @param values the arguments, in the order of the kernel's parameters
     * @return the arguments
     */
    public static KernelArguments ofLongs(long... values) {
        MemoryLayout[] parameters = new MemoryLayout[values.length];
        Arrays.fill(parameters, ValueLayout.JAVA_LONG);
        KernelArguments made = new KernelArguments(parameters);
        for (int i = 0; i < values.length; i++) {
            made.set(i, values[i]);
        }
        return made;
    }

    /**
     * Sets an argument of 64 bits, such as an address.
     *
     * @param index the number of the parameter, from 0
     * @param value the argument
     * @throws IndexOutOfBoundsException if there is no such parameter, or it has fewer bytes
     */
    public void set(int index, long value) {
        values[index].set(ValueLayout.JAVA_LONG, 0, value);
    }

    /**
     * Sets an argument of 32 bits.
     *
     * @param index the number of the parameter, from 0
     * @param value the argument
     * @throws IndexOutOfBoundsException if there is no such parameter, or it has fewer bytes
     */
    public void set(int index, int value) {
        values[index].set(ValueLayout.JAVA_INT, 0, value);
    }

    /**
     * Sets an argument of 32 bits.
     *
     * @param index the number of the parameter, from 0
     * @param value the argument
     * @throws IndexOutOfBoundsException if there is no such parameter, or it has fewer bytes
     */
    public void set(int index, float value) {
        values[index].set(ValueLayout.JAVA_FLOAT, 0, value);
    }

    /**
     * Returns an argument's bytes, for structures and other types.
     *
     * @param index the number of the parameter, from 0
     * @return the bytes, aligned to 16, which may be kept and changed
     * @throws IndexOutOfBoundsException if there is no such parameter
     */
    public MemorySegment value(int index) {
        return values[index];
    }

    List<Long> sizes() {
        return sizes;
    }

    /** Where the host's table of the addresses of the arguments is, as long as this is reachable. */
    long address() {
        return table.address();
    }
}
