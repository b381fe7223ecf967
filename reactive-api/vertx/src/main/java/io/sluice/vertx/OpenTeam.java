package io.sluice.vertx;

import io.sluice.collectives.Team;
import io.vertx.core.Future;

/**
 * A team among the work of a client, which closes it.
 *
 * @param client the client
 * @param team the team
 */
record OpenTeam(ClientContext client, Team team) implements TransferHandle<Void> {
    @Override
    public Future<Void> result() {
        return client.answer(team::closeAsync);
    }

    @Override
    public void cancel() {
        team.closeAsync();
    }

    @Override
    public Future<Void> quiesced() {
        return result();
    }
}
