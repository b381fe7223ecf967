package io.sluice.engine.transport.verbs;

import io.sluice.jni.VerbsCompletionQueue;
import io.sluice.jni.VerbsDevice;
import io.sluice.jni.VerbsLibrary;
import io.sluice.jni.VerbsQueuePair;
import io.sluice.jni.VerbsReceiveQueue;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.IntStream;
import org.opentest4j.TestAbortedException;

/** The faults and counters of the software adapter, which this process has loaded in place of libibverbs. */
final class SoftAdapter {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final MethodHandle port;
    private final MethodHandle remove;
    private final MethodHandle insert;
    private final MethodHandle delay;
    private final MethodHandle loseAnswers;
    private final MethodHandle holdAnswers;
    private final MethodHandle breakQueuePair;
    private final MethodHandle counter;

    private SoftAdapter(SymbolLookup library) {
        port = function(library, "soft_adapter_port", FunctionDescriptor.of(INT, INT, INT));
        remove = function(library, "soft_adapter_remove", FunctionDescriptor.of(INT, INT));
        insert = function(library, "soft_adapter_insert", FunctionDescriptor.of(INT, INT));
        delay = function(library, "soft_adapter_delay", FunctionDescriptor.ofVoid(LONG));
        loseAnswers = function(library, "soft_adapter_lose_answers", FunctionDescriptor.of(INT, INT, INT));
        holdAnswers = function(library, "soft_adapter_hold_answers", FunctionDescriptor.of(INT, INT, LONG));
        breakQueuePair = function(library, "soft_adapter_break_queue_pair", FunctionDescriptor.of(INT, INT));
        counter = function(library, "soft_adapter_counter", FunctionDescriptor.of(LONG, ValueLayout.ADDRESS));
    }

    private static MethodHandle function(SymbolLookup library, String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), type);
    }

    /** The one that the tests run on; on other devices a test that needs it is skipped. */
    static SoftAdapter get() {
        String path = System.getProperty(Native.LIBRARY_PROPERTY);
        if (path == null) {
            throw new TestAbortedException("these devices have no faults to order");
        }
        String unavailable = VerbsLibrary.load(path);
        if (unavailable != null) {
            throw new IllegalStateException(unavailable);
        }
        return new SoftAdapter(SymbolLookup.libraryLookup(Path.of(path), Arena.global()));
    }

    private static int indexOf(String device) {
        return Integer.parseInt(device.substring("soft".length()));
    }

    /** Takes a device's port down, or up. */
    void port(String device, boolean up) {
        check(invoke(port, indexOf(device), up ? 1 : 0), device);
    }

    /** Pulls a device out. */
    void remove(String device) {
        check(invoke(remove, indexOf(device)), device);
    }

    /** Plugs it in again; what was open stays dead. */
    void insert(String device) {
        check(invoke(insert, indexOf(device)), device);
    }

    /** How long each work request takes at least. */
    void delay(long nanos) {
        try {
            delay.invokeExact(nanos);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Whether what a device asks for is carried out at its target, but no answer to it comes back. */
    void loseAnswers(String device, boolean lose) {
        check(invoke(loseAnswers, indexOf(device), lose ? 1 : 0), device);
    }

    /**
     * While it is not 0, nothing that a device is asked for is completed before its queue pair breaks: what it has carried
     * out by then it reports so long after that.
     */
    void holdAnswers(String device, long nanos) {
        try {
            check((int) holdAnswers.invokeExact(indexOf(device), nanos), device);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Breaks a queue pair; false if there is none of that number. */
    boolean breakQueuePair(int number) {
        return invoke(breakQueuePair, number) == 0;
    }

    /**
     * Breaks any one of the queue pairs that were made after a mark; waits while all of them are being set up again.
     *
     * @param random chooses it
     * @param from what {@link #mark} gave
     */
    void breakOneOf(Random random, int from) {
        Patience.until("there is a queue pair to break", () -> tryToBreakOneOf(random, from));
    }

    private boolean tryToBreakOneOf(Random random, int from) {
        int end = mark();
        int[] numbers = IntStream.range(from + 1, end).toArray();
        for (int left = numbers.length; left > 0; left--) {
            int at = random.nextInt(left);
            if (breakQueuePair(numbers[at])) {
                return true;
            }
            numbers[at] = numbers[left - 1];
        }
        return false;
    }

    /**
     * Breaks the queue pairs that were made after a mark; waits while all of them are being set up again.
     *
     * @param from what {@link #mark} gave
     */
    void breakAll(int from) {
        Patience.until(
                "there are queue pairs to break",
                () -> IntStream.range(from + 1, mark())
                                .filter(this::breakQueuePair)
                                .count()
                        > 0);
    }

    /** A number that no queue pair has had before; those made after it have greater ones. */
    int mark() {
        long device = positive(VerbsDevice.open(VerbsDevice.names()[0]));
        long domain = positive(VerbsDevice.allocateProtectionDomain(device));
        long queue = positive(VerbsCompletionQueue.create(device, 1, 0));
        long receives = positive(VerbsReceiveQueue.create(domain, 1));
        long pair = positive(VerbsQueuePair.create(domain, queue, receives, 1, 1, 0));
        int number = VerbsQueuePair.number(pair);
        VerbsQueuePair.destroy(pair);
        VerbsReceiveQueue.destroy(receives);
        VerbsCompletionQueue.destroy(queue);
        VerbsDevice.freeProtectionDomain(domain);
        VerbsDevice.close(device);
        return number;
    }

    private static long positive(long handle) {
        if (handle <= 0) {
            throw new IllegalStateException("error " + -handle);
        }
        return handle;
    }

    /** See its header for the names. */
    long counter(String name) {
        try (Arena arena = Arena.ofConfined()) {
            long value = (long) counter.invokeExact(arena.allocateFrom(name));
            if (value < 0) {
                throw new IllegalArgumentException("there is no counter " + name);
            }
            return value;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static int invoke(MethodHandle function, int argument) {
        try {
            return (int) function.invokeExact(argument);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static int invoke(MethodHandle function, int first, int second) {
        try {
            return (int) function.invokeExact(first, second);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static void check(int error, String device) {
        if (error != 0) {
            throw new IllegalStateException(device + ": error " + error);
        }
    }
}
