package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AllowedPeersTest {
    private static final AllowedPeers PEERS = AllowedPeers.none()
            .connections("guest")
            .regions("decode-*", "kv/*", Access.REMOTE_READ)
            .regions("CN=prefill,*", "kv/*", Access.REMOTE_READ, Access.REMOTE_WRITE)
            .regions("decode-7", "kv/in", Access.REMOTE_WRITE)
            .unnamedRegions("decode-*", Access.REMOTE_READ);

    private static PeerIdentity peer(@Nullable String token, @Nullable String subject, String... names) {
        return new PeerIdentity(EngineId.random(), null, token, subject, List.of(names));
    }

    @Test
    void whoIsNotOnTheListMayNotConnect() {
        PeerIdentity stranger = peer("prefill", null, "example.org");
        assertThat(PEERS.mayConnect(stranger)).isFalse();
        assertThat(PEERS.access(stranger, "kv/in")).isEmpty();
        assertThat(PEERS.mayConnect(peer(null, null))).isFalse();
        assertThat(AllowedPeers.none().mayConnect(peer("guest", null))).isFalse();
    }

    @Test
    void everyNameOfAPeerCounts() {
        assertThat(PEERS.mayConnect(peer("guest", null))).isTrue();
        assertThat(PEERS.mayConnect(peer(null, "CN=prefill,O=Example"))).isTrue();
        assertThat(PEERS.mayConnect(peer(null, "CN=other", "a.example", "decode-3")))
                .isTrue();
    }

    @Test
    void patternsAreOfTheWholeName() {
        assertThat(PEERS.mayConnect(peer("my-decode-3", null))).isFalse();
        assertThat(PEERS.mayConnect(peer("guest2", null))).isFalse();
        assertThat(PEERS.mayConnect(peer("Guest", null))).isFalse();
        assertThat(AllowedPeers.none().connections("a.b").mayConnect(peer("axb", null)))
                .isFalse();
    }

    @Test
    void rightsAddUpAndGoByTheRegionsName() {
        PeerIdentity seven = peer("decode-7", null);
        assertThat(PEERS.access(seven, "kv/in")).containsExactlyInAnyOrder(Access.values());
        assertThat(PEERS.access(seven, "kv/out")).containsExactly(Access.REMOTE_READ);
        assertThat(PEERS.access(seven, "weights")).isEmpty();
        assertThat(PEERS.access(seven, null)).containsExactly(Access.REMOTE_READ);
        assertThat(PEERS.access(peer("guest", null), "kv/in")).isEmpty();
        assertThat(PEERS.access(peer(null, "CN=prefill,O=Example"), null)).isEmpty();
    }
}
