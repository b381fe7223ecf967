package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest.Opcode;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When what is posted in a duty cycle reaches the adapters. */
@Tag("verbs")
class LoopFlushTest {
    private static final int CONNECTIONS = 8;
    private static final int REQUESTS = 4;

    private final SoftAdapter adapter = SoftAdapter.get();

    private static LoneEndpoint on(int device, int lanes) {
        return new LoneEndpoint(
                VerbsOptions.builder().devices(TestDevices.get(device)).build(), 4096, lanes);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whatConnectionsPostInACycleIsOneCrossingAndADoorbellALane(int lanes) {
        try (LoneEndpoint one = on(0, lanes);
                LoneEndpoint other = on(1, lanes)) {
            List<LoneEndpoint> ends = new ArrayList<>(List.of(one));
            List<RemoteKey> keys = new ArrayList<>(List.of(connect(one, other)));
            for (int i = 1; i < CONNECTIONS; i++) {
                LoneEndpoint end = one.companion();
                ends.add(end);
                keys.add(connect(end, other.companion()));
            }
            long crossings = one.crossings();
            long doorbells = adapter.counter("doorbells");
            List<CompletableFuture<CompletionStatus>> posted = new ArrayList<>();
            one.doOnLoop(() -> {
                for (int request = 0; request < REQUESTS; request++) {
                    for (int i = 0; i < CONNECTIONS; i++) {
                        posted.add(ends.get(i).post(Opcode.WRITE, keys.get(i)));
                    }
                }
                // not yet: others may follow
                assertThat(one.crossings()).isEqualTo(crossings);
            });
            assertThat(posted)
                    .hasSize(CONNECTIONS * REQUESTS)
                    .allSatisfy(status -> assertThat(Patience.await(status)).isEqualTo(CompletionStatus.SUCCESS));
            assertThat(one.crossings() - crossings).isEqualTo(1);
            assertThat(adapter.counter("doorbells") - doorbells).isEqualTo((long) CONNECTIONS * lanes);
        }
    }

    /** Else the adapter would be given what is half described. */
    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {"WRITE", "READ", "PUT"})
    void requestThatCannotBeDescribedIsNotInTheBatch(Opcode operation) {
        try (LoneEndpoint one = on(0, 1);
                LoneEndpoint other = on(1, 1)) {
            // of a peer that has no rails
            RemoteKey useless = one.attach(new byte[2 + Long.BYTES], 4096);
            RemoteKey key = connect(one, other);
            long posts = adapter.counter("posts");
            CompletableFuture<CompletableFuture<CompletionStatus>> posted = new CompletableFuture<>();
            one.doOnLoop(() -> {
                assertThatThrownBy(() -> one.post(operation, useless)).isInstanceOf(IndexOutOfBoundsException.class);
                posted.complete(one.post(Opcode.WRITE, key));
            });
            assertThat(Patience.await(Patience.await(posted))).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(adapter.counter("posts") - posts).isEqualTo(1);
            assertThat(one.failures()).isEmpty();
        }
    }

    @Test
    void loneRequestLeavesInTheCycleThatPostsIt() {
        try (LoneEndpoint one = on(0, 1);
                LoneEndpoint other = on(1, 1)) {
            RemoteKey key = connect(one, other);
            long doorbells = adapter.counter("doorbells");
            CompletableFuture<Long> atTheNextCycle = new CompletableFuture<>();
            CompletableFuture<CompletableFuture<CompletionStatus>> posted = new CompletableFuture<>();
            one.doOnLoop(() -> {
                posted.complete(one.post(Opcode.WRITE, key));
                // runs in the next cycle, and before its end
                one.loop().execute(() -> atTheNextCycle.complete(adapter.counter("doorbells") - doorbells));
            });
            assertThat(Patience.await(atTheNextCycle)).isEqualTo(1);
            assertThat(Patience.await(Patience.await(posted))).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    /** One that breaks with requests in the batch takes nothing of the others with it. */
    @Test
    void connectionThatClosesInTheCycleLeavesTheOthersTheirs() {
        try (LoneEndpoint one = on(0, 1);
                LoneEndpoint other = on(1, 1)) {
            RemoteKey key = connect(one, other);
            LoneEndpoint closing = one.companion();
            RemoteKey keyOfClosing = connect(closing, other.companion());
            List<CompletableFuture<CompletionStatus>> posted = new ArrayList<>();
            one.doOnLoop(() -> {
                posted.add(one.post(Opcode.WRITE, key));
                posted.add(closing.post(Opcode.WRITE, keyOfClosing));
                closing.closeEndpoint();
            });
            assertThat(Patience.await(posted.get(0))).isEqualTo(CompletionStatus.SUCCESS);
            // it may have been carried out before the queue pair was destroyed
            assertThat(Patience.await(posted.get(1))).isIn(CompletionStatus.FLUSHED, CompletionStatus.SUCCESS);
        }
    }

    private static RemoteKey connect(LoneEndpoint one, LoneEndpoint other) {
        one.connect(other);
        return one.attach(other.keys(), 4096);
    }
}
