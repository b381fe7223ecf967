package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.Team;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferPriority;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.ExpertsLostException;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationHandler;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What carries to a rank ends the buffer, or goes on, as transfers fail; the connection to that rank is the test's. */
class ProxyTest {
    private static final ExpertOptions EXPERTS = ExpertOptions.experts(2)
            .hidden(128)
            .maxTokensPerRank(1)
            .topK(1)
            .normalMode(false)
            .timeout(Patience.BOUND);
    private static final int PEER = 1;
    // arrays of words
    private static final int DISPATCHED = 0;
    private static final int DISPATCH_TAKEN = 2 * LowLatencyLayout.SETS;

    /** How a transfer ends: it throws, or returns the error of its callback. */
    @FunctionalInterface
    private interface Ending {
        @Nullable
        SluiceException of(String operation);
    }

    /** Rank 0, which is all of its team, and carries to a rank that the test makes up. */
    private static final class Carrier implements AutoCloseable {
        private final GpuExpertRanks ranks = GpuExpertRanks.unformed(1);
        private final Team team = ranks.team(0);
        private final Queue<String> operations = new ConcurrentLinkedQueue<>();
        private final KernelModule kernels;
        private final MemoryRegion window;
        private final ProxyMemory memory;
        private final BufferCore core;
        private final Proxy proxy;
        private final ConnectionState state;
        private final Ending ending;

        Carrier(ConnectionState state, Ending ending) {
            this.state = state;
            this.ending = ending;
            String gpu = ranks.device(0);
            LowLatencyLayout lowLatency = new LowLatencyLayout(EXPERTS, 2);
            BufferLayout layout = new BufferLayout(lowLatency.bytes(), 0);
            window = ranks.region(0, layout.windowBytes);
            memory = new ProxyMemory(
                    lowLatency,
                    List.of(new ProxiedRank(PEER, peer(), ranks.region(0, layout.windowBytes))),
                    PinnedBuffer.allocate(gpu, ProxyMemory.bytes(lowLatency)));
            kernels = KernelModule.load(gpu, "buffer");
            core = new BufferCore(
                    team,
                    GpuExpertOptions.of(EXPERTS),
                    GpuStream.create(gpu, TransferPriority.HIGH),
                    new ExpertWords(team, 1, PinnedBuffer.allocate(gpu, BufferLayout.WORDS_BYTES)),
                    Patience.await(TeamRegion.map(
                            team,
                            gpu,
                            CompletableFuture.completedFuture(window),
                            CompletableFuture.completedFuture(null),
                            1)),
                    layout,
                    kernels.kernel("sluice_experts_leave"),
                    memory);
            Proxy made = core.proxy();
            assertThat(made).isNotNull();
            proxy = made;
        }

        private static <T> T made(Class<T> type, InvocationHandler calls) {
            return type.cast(java.lang.reflect.Proxy.newProxyInstance(
                    ProxyTest.class.getClassLoader(), new Class<?>[] {type}, calls));
        }

        private RemoteRegion peer() {
            ConnectionPath path = made(ConnectionPath.class, (self, method, arguments) -> "tcp");
            Connection connection = made(Connection.class, (self, method, arguments) -> switch (method.getName()) {
                case "state" -> state;
                case "loop" -> team.loop();
                default -> transfer(method.getName(), (TransferCallback) arguments[arguments.length - 1]);
            });
            return made(RemoteRegion.class, (self, method, arguments) -> switch (method.getName()) {
                case "connection" -> connection;
                case "path" -> path;
                default -> throw new UnsupportedOperationException(method.getName());
            });
        }

        private Transfer transfer(String operation, TransferCallback callback) {
            Transfer transfer = made(Transfer.class, (self, method, arguments) -> {
                throw new UnsupportedOperationException(method.getName());
            });
            operations.add(operation);
            callback.terminated(transfer, ending.of(operation));
            return transfer;
        }

        /** Does what a kernel does that has something carried. */
        void say(int call) {
            memory.buffer().segment().set(ValueLayout.JAVA_LONG, call * ProxyMemory.CALL_BYTES, 1L << Short.SIZE);
            proxy.started(0);
        }

        /** Waits until the loop has done what it was told before. */
        void awaitLoop() {
            for (int cycle = 0; cycle < 3; cycle++) {
                CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
                team.loop().execute(() -> done.complete(null));
                Patience.await(done);
            }
        }

        SluiceException failure() {
            Patience.await(core.words().ended());
            SluiceException failure = core.words().failure();
            assertThat(failure).isNotNull();
            return failure;
        }

        void leave() {
            core.leaving().begin(0);
            Patience.await(proxy.close());
        }

        @Override
        public void close() {
            leave();
            Patience.await(kernels.close());
            core.stream().close();
            core.words().buffer().close();
            Patience.await(core.windows().closeAsync());
            Patience.await(window.close());
            Patience.await(memory.release());
            ranks.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "put"})
    void an_exception_of_a_transfer_ends_the_buffer(String failing) {
        try (Carrier carrier = new Carrier(ConnectionState.OPEN, operation -> {
            if (operation.equals(failing)) {
                throw new IllegalStateException("not taken");
            }
            return null;
        })) {
            carrier.say(DISPATCHED);
            assertThat(carrier.failure())
                    .hasMessageContaining("rank 0 of")
                    .hasMessageContaining("rank 1")
                    .hasRootCauseMessage("not taken");
            Patience.await(carrier.team.ended().exceptionally(revoked -> null));
        }
    }

    @Test
    void a_source_that_the_loop_removes_ends_the_buffer() {
        try (Carrier carrier = new Carrier(ConnectionState.OPEN, operation -> null)) {
            carrier.memory.buffer().close();
            Patience.await(carrier.memory.buffer().released());
            // it looks at what is given back
            carrier.proxy.started(0);
            assertThat(carrier.failure()).hasRootCauseInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void a_word_that_a_broken_lane_has_lost_ends_the_buffer() {
        try (Carrier carrier =
                new Carrier(ConnectionState.OPEN, operation -> new OutcomeUnknownException("the lane broke"))) {
            carrier.say(DISPATCH_TAKEN);
            assertThat(carrier.failure())
                    .isInstanceOfSatisfying(
                            ExpertsLostException.class,
                            lost -> assertThat(lost.ranks()).containsExactly(PEER));
        }
    }

    /** The team says that the rank is lost, if it has not left. */
    @Test
    void a_word_that_no_call_waits_for_may_be_lost_with_its_connection() {
        try (Carrier carrier =
                new Carrier(ConnectionState.CLOSED, operation -> new OutcomeUnknownException("the connection ended"))) {
            carrier.say(DISPATCH_TAKEN);
            Patience.until("the word was put", () -> carrier.operations.contains("put"));
            carrier.awaitLoop();
            assertThat(carrier.core.words().failure()).isNull();
        }
    }

    @Test
    void a_window_that_is_closed_does_not_hold_up_the_end() {
        try (Carrier carrier = new Carrier(ConnectionState.OPEN, operation -> {
            throw new StaleDescriptorException("the window is closed");
        })) {
            carrier.say(DISPATCHED);
            Patience.until("the transfer was tried", () -> carrier.operations.contains("write"));
            carrier.leave();
            assertThat(carrier.core.words().failure()).isNull();
        }
    }

    /** As one does whose GPU has failed: it does not come to what it was given. */
    @Test
    void a_stream_that_ends_early_does_not_hold_up_the_end() {
        try (Carrier carrier = new Carrier(ConnectionState.OPEN, operation -> null)) {
            carrier.proxy.started(1_000);
            carrier.core.leaving().begin(0);
            CompletableFuture<?> left = carrier.proxy.close();
            carrier.awaitLoop();
            assertThat(left).isNotDone();
            carrier.core.stream().close();
            Patience.await(left);
            assertThat(carrier.operations).contains("put");
        }
    }
}
