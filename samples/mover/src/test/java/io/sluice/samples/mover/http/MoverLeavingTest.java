package io.sluice.samples.mover.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryEvent;
import io.sluice.directory.EngineEntry;
import io.sluice.directory.EngineListing;
import io.sluice.directory.EngineNotFoundException;
import io.sluice.directory.Publication;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionDescriptor;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.MoverOptions;
import io.sluice.samples.mover.peer.MoverRole;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A mover that ends is out of the directory first. */
class MoverLeavingTest {

    private static final EngineOptions LISTENING = MoverPair.patient()
            .listen("127.0.0.1", 0)
            .transports(List.of("tcp"))
            .build();

    @Test
    void anEntryIsTakenOutWhileTheEngineCanStillBeReached() {
        Vertx vertx = Vertx.vertx();
        ReactiveTransferEngine stranger = ReactiveTransferEngine.open(LISTENING);
        Directory directory = Directory.inProcess();
        try {
            AtomicInteger reached = new AtomicInteger();
            Directory probed = new WithdrawalProbe(
                    directory,
                    entry -> stranger.connect(entry.address())
                            .doOnNext(connection -> reached.incrementAndGet())
                            .then());
            MoverOptions options =
                    MoverOptions.of(MoverRole.PREFILL, "a", probed).withEngine(LISTENING);
            MoverDeployment mover =
                    MoverPair.await(MoverDeployment.deploy(vertx, options, MoverHttpOptions.of("prefill/a")));
            EngineEntry entry = directory.find("prefill/a").block(MoverPair.BOUND);
            assertThat(entry).isNotNull();

            MoverPair.await(mover.undeploy(vertx));
            assertThat(reached).hasValue(1);
            assertThatThrownBy(() -> directory.find("prefill/a").block(MoverPair.BOUND))
                    .isInstanceOf(EngineNotFoundException.class);
            assertThatThrownBy(() -> stranger.connect(entry.address()).block(MoverPair.BOUND))
                    .isInstanceOf(RuntimeException.class);
        } finally {
            MoverPair.await(vertx.close());
            stranger.close().block(MoverPair.BOUND);
            directory.close().block(MoverPair.BOUND);
        }
    }

    @Test
    void nothingPutsTheEntryBack() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            movers.prefillApi.register("kv", 1, 4096, 1, 4);
            MoverPair.await(movers.prefill.client().ask(MoverClient.Operation.LEAVE));
            MoverPair.await(movers.prefill.client().ask(MoverClient.Operation.LEAVE));
            movers.prefillApi.register("more", 1, 4096, 1, 4);
            assertThat(movers.prefillApi.json("/api/pools").getJsonArray("pools"))
                    .hasSize(2);
            assertThatThrownBy(() -> movers.directory.find(MoverPair.PREFILL).block(MoverPair.BOUND))
                    .isInstanceOf(EngineNotFoundException.class);
            JsonObject ready =
                    new JsonObject(movers.prefillApi.get("/health/ready").body());
            assertThat(ready.getString("status")).isEqualTo("down");
            assertThat(ready.getString("detail")).contains("leaves");
            assertThat(movers.prefillApi.get("/health/live").statusCode()).isEqualTo(200);
        }
    }

    /** Something to be done before an entry is taken out. */
    private interface Probe {
        Mono<Void> of(EngineEntry entry);
    }

    private record WithdrawalProbe(Directory real, Probe probe) implements Directory {

        @Override
        public Mono<Publication> publish(Advertisement advertisement) {
            return real.publish(advertisement).map(made -> new ProbedPublication(made, probe));
        }

        @Override
        public Mono<EngineEntry> find(String name) {
            return real.find(name);
        }

        @Override
        public Mono<EngineListing> lookup(String name) {
            return real.lookup(name);
        }

        @Override
        public Mono<EngineListing> lookupRegions(String name, String regionPrefix) {
            return real.lookupRegions(name, regionPrefix);
        }

        @Override
        public Mono<RegionDescriptor> lookupRegion(String name, String region) {
            return real.lookupRegion(name, region);
        }

        @Override
        public Flux<DirectoryEvent> watch(String prefix) {
            return real.watch(prefix);
        }

        @Override
        public Mono<Void> close() {
            return real.close();
        }
    }

    private record ProbedPublication(Publication real, Probe probe) implements Publication {

        @Override
        public EngineEntry entry() {
            return real.entry();
        }

        @Override
        public Mono<EngineEntry> update(Map<String, RegionDescriptor> regions) {
            return real.update(regions);
        }

        @Override
        public Mono<Void> withdraw() {
            return probe.of(real.entry()).then(real.withdraw());
        }

        @Override
        public Mono<Void> ended() {
            return real.ended();
        }
    }
}
