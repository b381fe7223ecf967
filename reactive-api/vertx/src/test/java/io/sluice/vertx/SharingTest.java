package io.sluice.vertx;

import static io.sluice.vertx.Bounded.BOUND;
import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferOptions;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Clients of one Vert.x and one name have one engine. */
@ExtendWith(OwnVertx.class)
class SharingTest {
    private static TransferClientOptions shared(String name) {
        return Target.clientOptions("tcp").setShared(true).setName(name);
    }

    @Test
    void instancesOfAVerticleShareAnEngine(Vertx vertx) throws Exception {
        ConcurrentLinkedQueue<TransferClient> clients = new ConcurrentLinkedQueue<>();
        String id = await(vertx.deployVerticle(
                () -> new VerticleBase() {
                    @Override
                    public Future<?> start() {
                        clients.add(TransferClient.create(vertx, shared("pool")));
                        return Future.succeededFuture();
                    }
                },
                new DeploymentOptions().setInstances(4)));
        assertThat(clients).hasSize(4);
        assertThat(clients.stream().map(TransferClient::engine).distinct()).hasSize(1);
        TransferClient outside = TransferClient.create(vertx, shared("pool"));
        assertThat(outside.engine()).isSameAs(clients.peek().engine());
        await(vertx.undeploy(id));
        assertThat(await(outside.health()).getString("status")).isEqualTo("UP");
        await(outside.close());
        assertThat(await(outside.health()).getString("status")).isEqualTo("DOWN");
    }

    @Test
    void namesAndInstancesOfVertxTellThemApart(Vertx vertx) throws Exception {
        Vertx other = Vertx.vertx();
        try {
            TransferClient one = TransferClient.create(vertx, shared("one"));
            assertThat(TransferClient.create(vertx, shared("two")).engine()).isNotSameAs(one.engine());
            assertThat(TransferClient.create(other, shared("one")).engine()).isNotSameAs(one.engine());
            assertThat(TransferClient.create(vertx, Target.clientOptions("tcp")).engine())
                    .isNotSameAs(one.engine());
        } finally {
            await(other.close());
        }
    }

    @Test
    void theFirstOnesOptionsCount(Vertx vertx) {
        TransferClient first =
                TransferClient.create(vertx, shared("pool").configureEngine(engine -> engine.windowOperations(7)));
        TransferClient second =
                TransferClient.create(vertx, shared("pool").configureEngine(engine -> engine.windowOperations(9)));
        assertThat(second.engine().options().windowOperations()).isEqualTo(7);
        assertThat(first.engine()).isSameAs(second.engine());
    }

    @Test
    void aNameCanBeUsedAgain(Vertx vertx) throws Exception {
        TransferClient first = TransferClient.create(vertx, shared("pool"));
        await(first.close());
        TransferClient second = TransferClient.create(vertx, shared("pool"));
        assertThat(second.engine()).isNotSameAs(first.engine());
        assertThat(await(second.health()).getString("status")).isEqualTo("UP");
    }

    @Test
    void closingOneLeavesTheOthersAlone(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient leaving = TransferClient.create(vertx, shared("pool"));
            TransferClient staying = TransferClient.create(vertx, shared("pool"));
            TransferConnection own = await(leaving.connect(target.engine.address()));
            TransferConnection cached = await(leaving.connection(target.engine.address()));
            TransferConnection same = await(staying.connection(target.engine.address()));
            assertThat(same.connection()).isSameAs(cached.connection());
            MemoryRegion gone = await(leaving.allocate(64, RegionOptions.local()));
            MemoryRegion kept = await(staying.allocate(64, RegionOptions.local()));
            await(leaving.close());
            assertThat(own.connection().state()).isEqualTo(ConnectionState.CLOSED);
            assertThat(gone.isOpen()).isFalse();
            assertThat(same.connection().state()).isEqualTo(ConnectionState.OPEN);
            assertThat(kept.isOpen()).isTrue();
            var remote = await(same.attach(target.region.descriptor()));
            await(same.write(kept, 0, remote, 0, 64, TransferOptions.defaults()));
            await(staying.close());
            await().atMost(BOUND).until(() -> same.connection().state() == ConnectionState.CLOSED);
        }
    }

    /** The staging memory is everybody's: neither the workers of the first one that needs it nor its end may matter. */
    @Test
    void stagingMemoryNeedsNoWorkerOfTheFirstVerticle(Vertx vertx) throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (Target target = new Target("tcp")) {
            TransferClient staying = TransferClient.create(vertx, shared("pool"));
            Target.Attached to = target.attach(staying);
            CompletableFuture<Future<Buffer>> first = new CompletableFuture<>();
            String id = await(vertx.deployVerticle(
                    new VerticleBase() {
                        @Override
                        public Future<?> start() {
                            TransferClient client = TransferClient.create(vertx, shared("pool"));
                            vertx.executeBlocking(() -> over.await(BOUND.toNanos(), TimeUnit.NANOSECONDS), false);
                            return client.connect(target.engine.address())
                                    .compose(connection -> connection
                                            .attach(target.region.descriptor())
                                            .onSuccess(remote -> first.complete(connection.readBuffer(remote, 0, 64))));
                        }
                    },
                    new DeploymentOptions().setWorkerPoolName("its own").setWorkerPoolSize(1)));
            assertThat(await(await(first)).length()).isEqualTo(64);
            over.countDown();
            await(vertx.undeploy(id));
            assertThat(await(to.connection().readBuffer(to.remote(), 0, 64)).length())
                    .isEqualTo(64);
        } finally {
            over.countDown();
        }
    }

    @Test
    void regionsThatWereClosedElsewhereAreForgotten(Vertx vertx) throws Exception {
        TransferClient client = TransferClient.create(vertx, shared("pool"));
        for (int i = 0; i < 200; i++) {
            await(await(client.allocate(64, RegionOptions.local())).close());
        }
        assertThat(((DefaultTransferClient) client).regionsKept()).isLessThanOrEqualTo(64);
        MemoryRegion kept = await(client.allocate(64, RegionOptions.local()));
        TransferClient other = TransferClient.create(vertx, shared("pool"));
        await(client.close());
        assertThat(kept.isOpen()).isFalse();
        await(other.close());
    }
}
