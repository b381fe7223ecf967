package io.sluice.engine.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.bootstrap.MessageSocket;
import io.sluice.engine.bootstrap.RawPeer;
import io.sluice.engine.transport.tcp.RawLane.Claim;
import io.sluice.fuzz.Mutation;
import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Thousands of sessions that are right up to a point: with any damage to the rest the engine loses no byte outside the
 * slice, no descriptor and no other connection, and throws no unexpected exception.
 */
@Tag("filler")
class DamagedTrafficTest {
    // most of a session is waiting, so that many go on at once
    private static final int THREADS = 16;
    private static final int RECORDED_SESSIONS = 3000;
    private static final int LIVE_SESSIONS = 800;
    private static final int STEPS = 12;
    // A peer whose words are cut short would wait for an answer in vain.
    private static final Duration SHORT = Patience.scaled(Duration.ofMillis(60));

    private final FuzzSeed seed = FuzzSeed.of("DamagedTrafficTest");

    private void storm(int sessions, Attack attack) {
        try (GuardedTarget target =
                new GuardedTarget(options -> options.pollers(2).maxHandshakesPerSecond(1_000_000))) {
            target.assertHonestIsServed();
            int before = OpenDescriptors.count();
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Random random = seed.random(i);
                ends.add(CompletableFuture.runAsync(
                        () -> {
                            for (int session = 0; session < seed.scaled(sessions) / THREADS; session++) {
                                attack.strike(target, random);
                            }
                        },
                        task -> Thread.ofPlatform().daemon().start(task)));
            }
            ends.forEach(end -> Patience.await(end, Patience.longBound()));
            Patience.until(
                    "the honest connection alone is left",
                    () -> target.engine().connections().size() == 1);
            OpenDescriptors.assertSettleAt(before);
            target.assertMarginsUnchanged();
            target.assertHonestIsServed();
            Patience.await(target.region().close());
        }
    }

    /** One session. */
    private interface Attack {
        void strike(GuardedTarget target, Random random);
    }

    // ---- recorded ----

    /** Records both sockets of a peer in a session without faults. */
    private static List<byte[]> record(GuardedTarget target) {
        List<byte[]> said = Collections.synchronizedList(new ArrayList<>());
        try (RawPeer peer = new RawPeer(target.engine().address(), (bytes, to) -> {
            said.add(bytes);
            to.write(bytes);
        })) {
            speak(target, peer, (bytes, to) -> {
                said.add(bytes);
                to.write(bytes);
            });
        }
        return said;
    }

    /** A recording is of another session, so the proofs in it are worthless; this is about everything before them. */
    @Test
    void recordedSessionsWithDamage() {
        List<byte[]> recording;
        try (GuardedTarget target = new GuardedTarget()) {
            recording = record(target);
        }
        storm(RECORDED_SESSIONS, (target, random) -> {
            int from = random.nextInt(recording.size());
            // Mostly from the beginning of a socket's stream: HELLO, or LANE.
            int first = random.nextInt(4) == 0 ? from : random.nextInt(3) == 0 ? 2 : 0;
            int count = 1 + random.nextInt(recording.size() - first);
            byte[] stream = RawLane.join(recording.subList(first, first + count).toArray(byte[][]::new));
            byte[] damaged = random.nextInt(20) == 0 ? stream : Mutation.of(stream, random);
            try (Socket socket = new Socket(
                    target.engine().address().host(), target.engine().address().port())) {
                socket.getOutputStream().write(damaged);
                if (random.nextBoolean()) {
                    socket.setSoLinger(true, 0);
                }
            } catch (IOException cutOff) {
                // The engine did not want to hear the rest.
            }
        });
    }

    // ---- live ----

    private static void speak(GuardedTarget target, RawPeer peer, MessageSocket.Delivery delivery) {
        peer.connect();
        RegionDescriptor descriptor = target.slice();
        Claim claim = GuardedTarget.claim(peer.attach(descriptor), descriptor);
        RawLane lane = new RawLane(peer.lane(0), delivery);
        lane.send(RawLane.write(claim.at(100, 200), new byte[200]));
        lane.receive();
        lane.send(RawLane.read(claim.at(50, 300)));
        lane.receive();
        lane.send(RawLane.write(claim.at(0, GuardedTarget.SLICE), new byte[GuardedTarget.SLICE]));
        lane.receive();
        peer.notifyEngine(new byte[20]);
        peer.detach(claim.handle());
        lane.send(RawLane.read(claim.at(0, 10)), RawLane.count(RawLane.ACK, 0, 0));
    }

    /** One thing of what a peer says is damaged, wherever in the session it stands; the rest is in order. */
    @Test
    void liveSessionsWithOneDamage() {
        AtomicInteger finished = new AtomicInteger();
        storm(LIVE_SESSIONS, (target, random) -> {
            AtomicInteger untilDamage = new AtomicInteger(random.nextInt(STEPS));
            MessageSocket.Delivery damaging =
                    (bytes, to) -> to.write(untilDamage.getAndDecrement() == 0 ? Mutation.of(bytes, random) : bytes);
            try (RawPeer peer = new RawPeer(target.engine().address(), damaging, SHORT)) {
                speak(target, peer, damaging);
                finished.incrementAndGet();
            } catch (UncheckedIOException | AssertionError | IllegalArgumentException cutOff) {
                // The engine has seen the damage, or waits for the rest of what was cut.
            }
        });
        System.out.println("DamagedTrafficTest: sessions that got to their end: " + finished);
        assertThat(finished.get())
                .as("damage that does not matter lets a session go on")
                .isPositive();
    }
}
