package io.sluice.fuzz;

import com.sun.management.ThreadMXBean;
import io.sluice.testkit.Patience;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Gives a parser inputs that are damaged copies of valid ones, and holds it to what every parser of foreign bytes promises:
 * each input is read or refused by one of its typed errors, at once, with memory in proportion to the input's length.
 *
 * <p>System properties: {@code sluice.fuzz.inputs} says how many inputs a target gets, {@code sluice.test.seed} which ones.
 * Without the former it is some thousands, and three hundred times as many in the soak profile.
 */
public final class ParserFuzz {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long DEFAULT_SEED = 20_240_229L;
    private static final int STANDARD_INPUTS = 10_000;
    private static final int SOAK_FACTOR = 300;
    private static final long MOST_NANOS = Patience.BOUND.toNanos();
    private static final int LONGEST_SHOWN = 4096;
    private static final int PLACE_FRAMES = 4;

    // set where other code drives the parser
    private static volatile @Nullable Consumer<ParserFuzz> driver;

    private final String target;
    private final long seed = Long.getLong("sluice.test.seed", DEFAULT_SEED);
    private final List<byte[]> seeds = new ArrayList<>();
    private final List<Class<? extends RuntimeException>> refusals = new ArrayList<>();
    // of an exception and its stack trace, among others
    private long freeBytes = 64 << 10;
    private long bytesForEach = 64;
    private int standardInputs = STANDARD_INPUTS;

    private volatile byte[] current = {};
    private volatile long begun;
    private @Nullable Parser parser;

    private ParserFuzz(String target) {
        this.target = target;
        seeds.addAll(Corpus.of(target));
    }

    /** Reads one input, and checks the result; an exception is a refusal or a failure. */
    @FunctionalInterface
    public interface Parser {
        /**
         * Reads one input.
         *
         * @param input its bytes
         * @throws Exception the refusal, or else a failure
         */
        void parse(byte[] input) throws Exception;
    }

    /**
     * For one parser, with the inputs of its corpus.
     *
     * @param target its name, also that of the file of its corpus
     * @return what to configure and run
     */
    public static ParserFuzz of(String target) {
        return new ParserFuzz(target);
    }

    /**
     * Valid inputs to begin with, besides those of the corpus.
     *
     * @param inputs what the parser accepts
     * @return this
     */
    public ParserFuzz valid(byte[]... inputs) {
        seeds.addAll(Arrays.asList(inputs));
        return this;
    }

    /**
     * The typed error by which the parser refuses an input.
     *
     * @param error its type, which may be one of several
     * @return this
     */
    public ParserFuzz refusesBy(Class<? extends RuntimeException> error) {
        refusals.add(error);
        return this;
    }

    /**
     * How much may be allocated for each byte of an input.
     *
     * @param bytesForEachByte the number of bytes
     * @return this
     */
    public ParserFuzz allocating(long bytesForEachByte) {
        bytesForEach = bytesForEachByte;
        return this;
    }

    /**
     * How much the parser has before it reads anything, such as a buffer.
     *
     * @param bytes the number of bytes
     * @return this
     */
    public ParserFuzz having(long bytes) {
        freeBytes = bytes;
        return this;
    }

    /**
     * For a parser that is slow: how many inputs it gets in the standard profile.
     *
     * @param standard the number of inputs
     * @return this
     */
    public ParserFuzz inputs(int standard) {
        standardInputs = standard;
        return this;
    }

    private long extent() {
        String profile = System.getProperty("sluice.test.profile", "standard").strip();
        long standard = switch (profile.toLowerCase(Locale.ROOT)) {
            case "small" -> Math.max(1, standardInputs / 10);
            case "large", "soak" -> (long) standardInputs * SOAK_FACTOR;
            default -> standardInputs;
        };
        return Long.getLong("sluice.fuzz.inputs", standard);
    }

    /** From now on a target is handed to the driver and not run. */
    static void driveBy(Consumer<ParserFuzz> other) {
        driver = other;
    }

    List<byte[]> seeds() {
        return seeds;
    }

    /** One input of another driver's; throws exceptions that are no refusal. */
    void give(byte[] input) throws Exception {
        try {
            Objects.requireNonNull(parser).parse(input);
        } catch (RuntimeException e) {
            if (refusals.stream().noneMatch(refusal -> refusal.isInstance(e))) {
                throw e;
            }
        }
    }

    /**
     * Runs the inputs on a thread of its own; a hang fails as well.
     *
     * @param tried the parser
     */
    public void run(Parser tried) {
        parser = tried;
        Consumer<ParserFuzz> other = driver;
        if (other != null) {
            other.accept(this);
            return;
        }
        Run run = new Run(tried, extent());
        Thread thread = Thread.ofPlatform().daemon().name("fuzz " + target).unstarted(run);
        begun = System.nanoTime();
        thread.start();
        try {
            while (!thread.join(Duration.ofMillis(200))) {
                if (System.nanoTime() - begun > MOST_NANOS) {
                    AssertionError hang = new AssertionError(describe("does not end", current));
                    hang.setStackTrace(thread.getStackTrace());
                    throw hang;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
        run.report();
    }

    private String describe(String what, byte[] input) {
        String hex = HexFormat.of().formatHex(input, 0, Math.min(input.length, LONGEST_SHOWN));
        return target + " (-Dsluice.test.seed=" + seed + "): the parser " + what + " for the " + input.length
                + " bytes " + hex;
    }

    private final class Run implements Runnable {
        private final Parser parser;
        private final long extent;
        private final InputPool pool = new InputPool(seeds);
        private final SplittableRandom random = new SplittableRandom(seed);
        private final long started = System.nanoTime();
        private long read;
        private long refused;
        private long mostAllocated;
        private AssertionError failure;

        Run(Parser parser, long extent) {
            this.parser = parser;
            this.extent = extent;
        }

        @Override
        public void run() {
            try {
                for (byte[] input : seeds) {
                    take(input);
                }
                for (long i = 0; i < extent; i++) {
                    take(pool.next(random));
                }
            } catch (AssertionError e) {
                failure = e;
            } catch (RuntimeException | Error e) {
                failure = new AssertionError(describe("cannot be driven", current), e);
            }
        }

        private void take(byte[] input) {
            current = input;
            begun = System.nanoTime();
            long bound = freeBytes + bytesForEach * input.length;
            long before = THREADS.getCurrentThreadAllocatedBytes();
            String place = parse(input);
            long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
            if (allocated > bound) {
                // classes loaded or linked the first time are not the parser's
                before = THREADS.getCurrentThreadAllocatedBytes();
                parse(input);
                allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
            }
            mostAllocated = Math.max(mostAllocated, allocated);
            if (allocated > bound) {
                throw new AssertionError(describe("allocates " + allocated + " bytes", input));
            }
            if (place.isEmpty()) {
                read++;
            } else {
                refused++;
            }
            pool.ended(input, place, random);
        }

        /** The place where it was refused; empty if it was read. */
        private String parse(byte[] input) {
            try {
                parser.parse(input);
                return "";
            } catch (Exception e) {
                if (refusals.stream().noneMatch(refusal -> refusal.isInstance(e))) {
                    throw new AssertionError(describe("ends with an error of another type", input), e);
                }
                return place(e);
            } catch (Error e) {
                throw new AssertionError(describe("fails", input), e);
            }
        }

        private static String place(Exception refusal) {
            StackTraceElement[] trace = refusal.getStackTrace();
            StringBuilder place = new StringBuilder(refusal.getClass().getName());
            for (int i = 0; i < Math.min(PLACE_FRAMES, trace.length); i++) {
                place.append(' ').append(trace[i].getMethodName()).append(trace[i].getLineNumber());
            }
            return place.toString();
        }

        void report() {
            if (failure != null) {
                throw failure;
            }
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
            System.out.println("fuzz " + target + ": " + (read + refused) + " inputs, " + read + " read, " + refused
                    + " refused at " + pool.places() + " places, most allocated " + mostAllocated + " bytes, " + millis
                    + " ms, -Dsluice.test.seed=" + seed);
            if (read == 0 || refused == 0) {
                throw new AssertionError(target + ": " + read + " read and " + refused + " refused: nothing was tried");
            }
        }
    }
}
