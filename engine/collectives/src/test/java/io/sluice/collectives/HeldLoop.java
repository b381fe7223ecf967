package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;

import java.util.concurrent.CountDownLatch;

/** The loop of a rank, which does nothing until this is closed. */
final class HeldLoop implements AutoCloseable {
    private final CountDownLatch release = new CountDownLatch(1);

    HeldLoop(Team team) {
        CountDownLatch held = new CountDownLatch(1);
        team.loop().execute(() -> {
            held.countDown();
            await(release);
        });
        await(held);
    }

    /** Waits until another loop has done all that it has to do, and more. */
    static void awaitCycles(Team team) {
        for (int i = 0; i < 10; i++) {
            CountDownLatch cycle = new CountDownLatch(1);
            team.loop().execute(cycle::countDown);
            await(cycle);
        }
    }

    @Override
    public void close() {
        release.countDown();
    }
}
