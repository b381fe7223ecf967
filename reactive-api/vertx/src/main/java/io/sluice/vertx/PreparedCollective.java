package io.sluice.vertx;

import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.PersistentCollective;
import io.vertx.core.Future;
import java.util.function.Function;

/** A collective that was prepared once, for any number of runs one after another. Any thread may call its methods. */
@SuppressWarnings("exports") // Applications with collectives require their module; others do without.
public final class PreparedCollective implements AutoCloseable {
    private final ClientContext client;
    private final PersistentCollective collective;

    PreparedCollective(ClientContext client, Function<CollectiveCallback, PersistentCollective> preparation) {
        this.client = client;
        // replaced by the callback of each run
        this.collective = preparation.apply((ended, error) -> {});
    }

    /**
     * Starts a run. The collective itself allocates nothing for it.
     *
     * @return the collective when the run has ended; fails with {@link IllegalStateException} if another run goes on or
     *     this is closed
     */
    public Future<PersistentCollective> run() {
        return TransferTeam.called(client, end -> {
            collective.start(end);
            return collective;
        });
    }

    /** {@return the engine's collective} */
    public PersistentCollective collective() {
        return collective;
    }

    /** Releases what was prepared. A run that has not ended goes on. */
    @Override
    public void close() {
        collective.close();
    }
}
