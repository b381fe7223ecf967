package io.sluice.vertx;

import io.sluice.experts.ExpertBuffer;
import io.vertx.core.Future;

/**
 * An expert buffer among the work of a client, which closes it.
 *
 * @param client the client
 * @param buffer the buffer
 */
record OpenExperts(ClientContext client, ExpertBuffer buffer) implements TransferHandle<Void> {
    @Override
    public Future<Void> result() {
        return client.answer(buffer::closeAsync);
    }

    @Override
    public void cancel() {
        buffer.closeAsync();
    }

    @Override
    public Future<Void> quiesced() {
        return result();
    }
}
