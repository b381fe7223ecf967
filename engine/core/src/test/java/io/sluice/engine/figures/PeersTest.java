package io.sluice.engine.figures;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.PeerMetrics;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.flow.CountedCallers;
import io.sluice.engine.flow.EngineWindow;
import io.sluice.engine.providers.OpenTransport;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeersTest {
    private static final int SHM = 0;
    private static final int TCP = 1;

    private final Peers peers = new Peers(2, 2);

    /** A connection with three transfers pending. */
    private static final class Session implements SessionFigures {
        @Override
        public InFlightWindow window() {
            return new EngineWindow(1, 1);
        }

        @Override
        public int pending() {
            return 3;
        }

        @Override
        public long lastReceived() {
            return System.nanoTime();
        }

        @Override
        public OpenTransport transport() {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<OpenTransport> transports() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int lanes(OpenTransport over, PathState state) {
            return 0;
        }

        @Override
        public int rails(OpenTransport over, PathState state) {
            return 0;
        }

        @Override
        public int notificationCredits() {
            return 0;
        }

        @Override
        public int notificationsWaiting() {
            return 0;
        }
    }

    @Test
    void peerIsLostUntilItIsConnectedAgain() {
        EngineId peer = EngineId.random();
        Session first = new Session();
        assertThat(peers.opened(first, peer, TCP, false).reconnected()).isFalse();
        peers.ended(first, peer, TCP, true);
        assertThat(peers.lost(TCP)).isEqualTo(1);
        assertThat(peers.lost(SHM)).isZero();
        Session second = new Session();
        assertThat(peers.opened(second, peer, SHM, true).reconnected()).isTrue();
        assertThat(peers.lost(TCP)).isZero();
        peers.ended(second, peer, SHM, false);
        assertThat(peers.opened(new Session(), peer, SHM, true).reconnected()).isFalse();
    }

    @Test
    void peerWithAnotherConnectionIsNotLost() {
        EngineId peer = EngineId.random();
        Session first = new Session();
        Session second = new Session();
        Peers.Opened opened = peers.opened(first, peer, TCP, false);
        assertThat(peers.opened(second, peer, TCP, false).figures()).isSameAs(opened.figures());
        assertThat(opened.figures().pending()).isEqualTo(6);
        peers.ended(first, peer, TCP, true);
        assertThat(peers.lost(TCP)).isZero();
        assertThat(opened.figures().isConnected()).isTrue();
        assertThat(opened.figures().pending()).isEqualTo(3);
        assertThat(peers.all()).containsExactly(opened.figures());
    }

    @Test
    void longestEndedAreForgottenAndWhatTheyCountedIsNot() {
        List<PeerMetrics> ended = new ArrayList<>();
        int more = 5;
        for (int i = 0; i < Peers.MAX_ENDED + more; i++) {
            EngineId peer = EngineId.random();
            Session session = new Session();
            Peers.Opened opened = peers.opened(session, peer, SHM, true);
            CountedCallers.writes(opened.callers(), 2, 100);
            peers.ended(session, peer, SHM, true);
            ended.add(opened.figures());
        }
        EngineId open = EngineId.random();
        peers.opened(new Session(), open, SHM, true);
        assertThat(peers.all())
                .hasSize(Peers.MAX_ENDED + 1)
                .containsAll(ended.subList(more, ended.size()))
                .doesNotContainAnyElementsOf(ended.subList(0, more));
        assertThat(ended.getLast().bytes()).isEqualTo(100);
        assertThat(ended.getLast().operations()).isEqualTo(2);
        assertThat(ended.getLast().durationNanos()).isEqualTo(2000);
        long all = Peers.MAX_ENDED + more;
        assertThat(peers.sumOfCallers(SHM, callers -> callers.bytes(Operation.WRITE)))
                .isEqualTo(100 * all);
        assertThat(peers.sumOfCallers(SHM, callers -> callers.operations(Operation.WRITE)))
                .isEqualTo(2 * all);
        assertThat(peers.sumOfCallers(TCP, callers -> callers.bytes(Operation.WRITE)))
                .isZero();
    }
}
