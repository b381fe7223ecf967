package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Small messages are sent out of a copy, so a rank that only sends ends before they have left. One is under way at a time,
 * and the peer acknowledges none until its loop goes on: the others wait in memory of the team.
 */
class CopiedMessagesTest {
    private static final CollectiveOptions DEFAULTS = CollectiveOptions.defaults();
    private static final Duration LIVENESS = Patience.scaled(Duration.ofSeconds(1));
    // of one link
    private static final int SLOTS = 8;

    private static Ranks form(String transport, Duration liveness) {
        return Ranks.form(
                transport,
                2,
                options -> options,
                (EngineOptions.Builder engine) ->
                        engine.pollers(1).windowOperations(1).livenessTimeout(liveness));
    }

    private static void broadcast(Team team, MemoryRegion buffer, long place, CollectiveCallback callback) {
        team.broadcast(buffer, place * Integer.BYTES, 1, ElementType.INT32, 0, DEFAULTS, callback);
    }

    /** Broadcasts 1, 2, … out of one place, each as soon as the one before has ended here. */
    private static final class Sender implements CollectiveCallback {
        private final Team team;
        private final MemoryRegion buffer;
        private final int all;
        private final AtomicInteger ended = new AtomicInteger();
        private final CompletableFuture<Void> done = new CompletableFuture<>();

        Sender(Ranks ranks, int all) {
            this.team = ranks.team(0);
            this.buffer = ranks.region(0, Integer.BYTES);
            this.all = all;
        }

        void next() {
            buffer.segment().set(ValueLayout.JAVA_INT, 0, ended.get() + 1);
            broadcast(team, buffer, 0, this);
        }

        @Override
        public void ended(Collective collective, @Nullable SluiceException error) {
            if (error != null) {
                done.completeExceptionally(error);
            } else if (ended.incrementAndGet() == all) {
                done.complete(null);
            } else {
                next();
            }
        }
    }

    /** Calls the other side of the broadcasts, each to a place of its own. */
    private static List<CompletableFuture<Void>> receive(Ranks ranks, MemoryRegion target, int all) {
        List<CompletableFuture<Void>> received = new ArrayList<>();
        for (int i = 0; i < all; i++) {
            int place = i;
            received.add(ranks.on(1, (rank, team, callback) -> broadcast(team, target, place, callback)));
        }
        return received;
    }

    private static void assertReceived(List<CompletableFuture<Void>> received, MemoryRegion target) {
        received.forEach(Patience::await);
        for (int i = 0; i < received.size(); i++) {
            assertThat(target.segment().getAtIndex(ValueLayout.JAVA_INT, i)).isEqualTo(i + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "faulty"})
    void noCopyIsOverwrittenBeforeItHasLeft(String transport) {
        int all = 20 * SLOTS;
        try (Ranks ranks = form(transport, Patience.longBound())) {
            MemoryRegion target = ranks.region(1, (long) all * Integer.BYTES);
            Sender sender = new Sender(ranks, all);
            List<CompletableFuture<Void>> received;
            try (HeldLoop held = new HeldLoop(ranks.team(1))) {
                received = receive(ranks, target, all);
                sender.next();
                Patience.until("more have ended than are under way", () -> sender.ended.get() >= SLOTS);
                assertThat(received).noneMatch(CompletableFuture::isDone);
            }
            await(sender.done);
            assertReceived(received, target);
        }
    }

    @Test
    void aTeamThatClosesWaitsForThem() {
        try (Ranks ranks = form("tcp", Patience.longBound())) {
            MemoryRegion target = ranks.region(1, SLOTS * Integer.BYTES);
            int regions = ranks.engine(0).regions().size();
            Sender sender = new Sender(ranks, SLOTS);
            CompletableFuture<Void> closed;
            try (HeldLoop held = new HeldLoop(ranks.team(1))) {
                sender.next();
                await(sender.done);
                closed = ranks.team(0).closeAsync();
                failure(
                        ranks.on(0, (rank, team, callback) -> team.barrier(DEFAULTS, callback)),
                        TeamClosedException.class);
                HeldLoop.awaitCycles(ranks.team(0));
                assertThat(closed).isNotDone();
                assertThat(ranks.engine(0).regions()).hasSize(regions + 1);
            }
            await(closed);
            // the sender's buffer
            assertThat(ranks.engine(0).regions()).hasSize(1);
            assertReceived(receive(ranks, target, SLOTS), target);
            RankFailedException left = failure(
                    ranks.on(1, (rank, team, callback) -> team.barrier(DEFAULTS, callback)), RankFailedException.class);
            assertThat(left.ranks()).containsExactly(0);
        }
    }

    @Test
    void aPeerThatIsLostAfterwardsIsAnErrorOfTheNext() {
        try (Ranks ranks = form("tcp", LIVENESS)) {
            Sender sender = new Sender(ranks, SLOTS);
            try (HeldLoop held = new HeldLoop(ranks.team(1))) {
                sender.next();
                await(sender.done);
                RankFailedException lost = failure(ranks.team(0).ended(), RankFailedException.class);
                assertThat(lost.ranks()).containsExactly(1);
                assertThatThrownBy(sender::next).isInstanceOf(RankFailedException.class);
                // what has not left touches nothing any more, though the peer is still held
                await(ranks.team(0).closeAsync());
                assertThat(ranks.engine(0).regions()).hasSize(1);
            }
            failure(ranks.team(1).ended(), RankFailedException.class);
        }
    }
}
