package io.sluice.samples.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Members in one process, on addresses of loopback. */
class ClusterMemberTest {

    private static final Duration BOUND = Patience.BOUND;
    private static final String HERE = "127.0.0.1";
    private static final String ELSEWHERE = "127.0.0.2";

    private final List<ClusterMember> members = new ArrayList<>();

    @AfterEach
    void close() {
        members.forEach(member -> get(member.vertx().close()));
    }

    @Test
    void findEachOtherByAddress() throws IOException {
        int first = FreePort.any();
        int second = FreePort.any();
        List<String> all = List.of(HERE + ":" + first, HERE + ":" + second);
        join(ClusterMember.ClusterOptions.ofMembers("by-address", HERE, first, 0, all));
        join(ClusterMember.ClusterOptions.ofMembers("by-address", HERE, second, 0, all));
        awaitMembers(2);
    }

    @Test
    void findEachOtherByTheNameOfAService() throws IOException {
        int first = FreePort.any();
        join(new ClusterMember.ClusterOptions("by-service", HERE, first, 0, List.of(), "localhost", first));
        join(new ClusterMember.ClusterOptions("by-service", HERE, FreePort.any(), 0, List.of(), "localhost", first));
        awaitMembers(2);
    }

    @Test
    void listenNowhereElse() throws IOException {
        int cluster = FreePort.any();
        int eventBus = FreePort.any();
        join(ClusterMember.ClusterOptions.ofMembers("bound", HERE, cluster, eventBus, List.of()));
        for (int port : List.of(cluster, eventBus)) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(HERE, port), (int) BOUND.toMillis());
            }
            assertThatThrownBy(() -> {
                        try (Socket socket = new Socket()) {
                            socket.connect(new InetSocketAddress(ELSEWHERE, port), (int) BOUND.toMillis());
                        }
                    })
                    .isInstanceOf(ConnectException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 65_536})
    void aPortIsOne(int port) {
        assertThatThrownBy(() -> ClusterMember.ClusterOptions.ofMembers("ports", HERE, port, 0, List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Integer.toString(port));
    }

    private void join(ClusterMember.ClusterOptions options) {
        members.add(get(ClusterMember.join(options, new VertxOptions(), Vertx.builder())));
    }

    private void awaitMembers(int count) {
        await().atMost(BOUND)
                .untilAsserted(() -> assertThat(members)
                        .allSatisfy(member ->
                                assertThat(member.cluster().getNodes()).hasSize(count)));
    }

    private static <T> T get(Future<T> future) {
        return future.toCompletionStage()
                .toCompletableFuture()
                .orTimeout(BOUND.toNanos(), TimeUnit.NANOSECONDS)
                .join();
    }
}
