package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sluice.engine.MemoryRegion;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.NormalOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Normal mode on GPUs gives the bytes that an expert buffer on memory of the host gives, and those of the definition. */
class GpuNormalTest {
    /** The buffers of a shape, on GPUs and on the host. */
    private static final class Buffers implements AutoCloseable {
        final GpuExpertRanks ranks;
        final List<ExpertBuffer> hosts = new ArrayList<>();
        private final NormalShape shape;
        private int runs;

        Buffers(NormalShape shape) {
            this.shape = shape;
            ranks = GpuExpertRanks.form(shape.ranks(), shape.gpuOptions());
            List<CompletableFuture<ExpertBuffer>> creating = new ArrayList<>();
            for (int rank = 0; rank < shape.ranks(); rank++) {
                creating.add(ExpertBuffer.create(ranks.team(rank), shape.options()));
            }
            creating.forEach(each -> hosts.add(Patience.await(each)));
        }

        void run(
                NormalData.Count count,
                NormalData.Routing routing,
                NormalOptions options,
                boolean isBiased,
                boolean isSpecial,
                long seed) {
            boolean isInGraphs = runs++ % 2 == 1;
            String name = "%s, %s, %s, %s%s".formatted(shape, count, routing, options, isInGraphs ? ", in graphs" : "");
            NormalData data = NormalData.of(shape, count, routing, isSpecial, seed);
            try (NormalRun run = new NormalRun(ranks, hosts, data, options, isBiased, isInGraphs, name)) {
                run.round();
            }
        }

        @Override
        public void close() {
            hosts.stream().map(ExpertBuffer::closeAsync).toList().forEach(Patience::await);
            ranks.close();
        }
    }

    private static final NormalOptions PLAIN = NormalOptions.defaults();

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(ints = {1, 2})
    void one_choice_of_other_teams(int size) {
        one_choice(size);
    }

    @ParameterizedTest
    @ValueSource(ints = 3)
    void one_choice(int size) {
        NormalShape shape = new NormalShape(size, 6, 128, 5, 1);
        try (Buffers buffers = new Buffers(shape)) {
            buffers.run(NormalData.Count.MIXED, NormalData.Routing.RANDOM, PLAIN, false, false, 1);
            buffers.run(NormalData.Count.NONE, NormalData.Routing.RANDOM, PLAIN, true, false, 2);
            buffers.run(
                    NormalData.Count.ALL,
                    NormalData.Routing.FIRST_RANK,
                    PLAIN.withFormat(DispatchFormat.FP8),
                    true,
                    false,
                    3);
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(ints = 2)
    void two_choices_of_two_ranks(int size) {
        two_choices(size);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(ints = 1)
    void two_choices_of_one_rank(int size) {
        two_choices(size);
    }

    @ParameterizedTest
    @ValueSource(ints = 3)
    void two_choices(int size) {
        NormalShape shape = new NormalShape(size, 6, 512, 7, 2);
        try (Buffers buffers = new Buffers(shape)) {
            buffers.run(NormalData.Count.ALL, NormalData.Routing.MASKED, PLAIN.withExpertAlignment(4), true, false, 4);
            buffers.run(NormalData.Count.ONE, NormalData.Routing.RANDOM, PLAIN, false, false, 5);
            buffers.run(NormalData.Count.ALL_BUT_ONE, NormalData.Routing.NOWHERE, PLAIN, true, false, 6);
            for (DispatchFormat format : DispatchFormat.values()) {
                buffers.run(
                        NormalData.Count.MIXED,
                        NormalData.Routing.MASKED,
                        PLAIN.withFormat(format).withWorstTokens(shape.capacity()),
                        false,
                        true,
                        7);
            }
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(ints = {1, 3})
    void eight_choices_of_other_teams(int size) {
        eight_choices(size);
    }

    @ParameterizedTest
    @ValueSource(ints = 2)
    void eight_choices(int size) {
        NormalShape shape = new NormalShape(size, 24, 512, 8, 8);
        try (Buffers buffers = new Buffers(shape)) {
            buffers.run(NormalData.Count.ALL, NormalData.Routing.RANDOM, PLAIN, true, false, 8);
            buffers.run(
                    NormalData.Count.ALL_BUT_ONE,
                    NormalData.Routing.SPARED_RANK,
                    PLAIN.withFormat(DispatchFormat.FP8_UE8M0).withExpertAlignment(8),
                    false,
                    false,
                    9);
        }
    }

    @Test
    void a_long_vector() {
        NormalShape shape = new NormalShape(2, 4, 7168, 2, 2);
        try (Buffers buffers = new Buffers(shape)) {
            buffers.run(NormalData.Count.ALL, NormalData.Routing.RANDOM, PLAIN, false, false, 10);
            buffers.run(
                    NormalData.Count.ALL,
                    NormalData.Routing.RANDOM,
                    PLAIN.withFormat(DispatchFormat.FP8),
                    true,
                    false,
                    11);
        }
    }

    /** Prepared calls follow each other in the stream, which is waited for once, and starting them allocates nothing. */
    @Test
    void calls_that_follow_each_other() {
        NormalShape shape = new NormalShape(1, 4, 128, 4, 2);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (GpuExpertRanks ranks = GpuExpertRanks.form(1, shape.gpuOptions())) {
            MemoryRegion x = ranks.region(0, 4 * 256);
            MemoryRegion choices = ranks.region(0, 4 * 2 * 8);
            MemoryRegion out = ranks.region(0, 4 * 256);
            GpuExpertRanks.GpuBytes bytes = ranks.bytes(0, x);
            bytes.fill(1);
            GpuNormalMode mode = ranks.buffer(0).normalMode();
            GpuNormalLayout layout = mode.prepareLayout(choices, 0, 4);
            GpuNormalDispatch dispatch = mode.prepareDispatch(x, 0, choices, 0, choices, 0, layout, PLAIN);
            GpuNormalCombine combine =
                    mode.prepareCombine(dispatch.handle(), dispatch.result().tokens(), 0, null, 0, out, 0, null);
            long allocated = Long.MAX_VALUE;
            for (int i = 0; i < 100 && allocated > 0; i++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                layout.startUnnumbered();
                dispatch.startUnnumbered();
                long last = combine.start();
                allocated = threads.getCurrentThreadAllocatedBytes() - before;
                ranks.run(rank -> () -> last);
                assertThat(dispatch.result().received()).isEqualTo(4);
            }
            assertThat(allocated).as("bytes allocated by three starts").isZero();
            // the rows were their own outputs
            byte[] expected = bytes.get().toArray(ValueLayout.JAVA_BYTE);
            assertThat(ranks.bytes(0, out).get().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
        }
    }

    /** Rounds differ in everything, on the same memory. */
    @Test
    void rounds_that_alternate() {
        NormalShape shape = new NormalShape(2, 8, 128, 9, 4);
        try (Buffers buffers = new Buffers(shape)) {
            NormalData.Count[] counts = NormalData.Count.values();
            NormalData.Routing[] routings = NormalData.Routing.values();
            for (int i = 0; i < 8; i++) {
                DispatchFormat format = i % 2 == 0 ? DispatchFormat.BF16 : DispatchFormat.FP8_ROUNDED;
                buffers.run(
                        counts[i % counts.length],
                        routings[i * 3 % routings.length],
                        PLAIN.withFormat(format),
                        i % 3 == 0,
                        false,
                        20 + i);
            }
        }
    }
}
