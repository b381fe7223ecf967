package io.sluice.engine.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.TransferEngine;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A listener of the user that fails is the user's affair, and no connection's. */
class FaultyConnectionListenerTest {
    @Test
    void errorOutOfAListenerHarmsNoConnection() throws Exception {
        TransferEngine target = LinkedEngines.open(options -> {});
        TransferEngine initiator = LinkedEngines.open(options -> {});
        try {
            CompletableFuture<Connection> toldLater = new CompletableFuture<>();
            target.onConnection(connection -> {
                throw new AssertionError("a listener that fails");
            });
            target.onConnection(toldLater::complete);
            Connection connection = LinkedEngines.get(initiator.connect(target.address()));
            Connection accepted = LinkedEngines.get(toldLater);
            for (Connection side : new Connection[] {connection, accepted}) {
                assertThatThrownBy(() -> LinkedEngines.get(side.lookup("nothing of this name")))
                        .hasCauseInstanceOf(RegionNotFoundException.class);
                assertThat(side.state()).isEqualTo(ConnectionState.OPEN);
            }
            assertThat(LinkedEngines.get(initiator.connect(target.address())).state())
                    .isEqualTo(ConnectionState.OPEN);
        } finally {
            LinkedEngines.get(CompletableFuture.allOf(initiator.closeAsync(), target.closeAsync()));
        }
    }
}
