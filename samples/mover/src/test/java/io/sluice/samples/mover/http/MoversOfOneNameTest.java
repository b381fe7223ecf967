package io.sluice.samples.mover.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.directory.Directory;
import io.sluice.samples.cluster.ClusterMember;
import io.sluice.samples.cluster.ClusterMember.ClusterOptions;
import io.sluice.samples.mover.MoverOptions;
import io.sluice.samples.mover.peer.MoverRole;
import io.sluice.testkit.FreePort;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Two members of a cluster have movers of the same name, as when one takes the place of another. */
class MoversOfOneNameTest {

    private static final String HERE = "127.0.0.1";

    @Test
    void eachServerServesItsOwn() throws IOException {
        List<ClusterMember> members = new ArrayList<>();
        Directory directory = Directory.inProcess();
        try {
            List<String> addresses = List.of(HERE + ":" + FreePort.any(), HERE + ":" + FreePort.any());
            List<HttpApi> apis = new ArrayList<>();
            for (String address : addresses) {
                int port = Integer.parseInt(address.substring(HERE.length() + 1));
                ClusterMember member = MoverPair.await(ClusterMember.join(
                        ClusterOptions.ofMembers("one-name", HERE, port, 0, addresses),
                        new VertxOptions(),
                        Vertx.builder()));
                members.add(member);
            }
            Awaitility.await()
                    .atMost(MoverPair.BOUND)
                    .until(() -> members.stream()
                            .allMatch(member -> member.cluster().getNodes().size() == 2));
            for (ClusterMember member : members) {
                MoverOptions mover = MoverOptions.of(MoverRole.DECODE, "a", directory)
                        .withEngine(
                                MoverPair.patient().transports(List.of("tcp")).build());
                apis.add(new HttpApi(MoverPair.await(MoverDeployment.deploy(
                                member.vertx(), mover, MoverHttpOptions.of(mover.directoryName())))
                        .url()));
            }
            for (HttpApi api : apis) {
                String engine = api.json("/api/mover").getString("engine");
                assertThat(Stream.generate(() -> api.json("/api/mover").getString("engine"))
                                .limit(20))
                        .containsOnly(engine);
                try (Stream<ServerSentEvent> events = api.events("/api/events")) {
                    assertThat(events.map(ServerSentEvent::name).findFirst()).hasValue("engine");
                }
            }
            assertThat(apis.stream().map(api -> api.json("/api/mover").getString("engine")))
                    .doesNotHaveDuplicates();
        } finally {
            members.forEach(member -> MoverPair.await(member.vertx().close()));
            directory.close().block(MoverPair.BOUND);
        }
    }
}
