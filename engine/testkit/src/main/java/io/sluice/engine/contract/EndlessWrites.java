package io.sluice.engine.contract;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Writes that start each other until one fails, so that an end of their connection, early or late, meets one. */
final class EndlessWrites implements TransferCallback {
    private final Connection connection;
    private final MemoryRegion source;
    private final RemoteRegion remote;
    private final CompletableFuture<SluiceException> cut = new CompletableFuture<>();

    EndlessWrites(Connection connection, MemoryRegion source, RemoteRegion remote) {
        this.connection = connection;
        this.source = source;
        this.remote = remote;
        next();
    }

    private void next() {
        try {
            connection.write(source, 0, remote, 0, source.length(), TransferOptions.defaults(), this);
        } catch (SluiceException refused) {
            cut.complete(refused);
        } catch (RuntimeException | Error e) {
            cut.completeExceptionally(e);
        }
    }

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        if (error == null) {
            next();
        } else {
            cut.complete(error);
        }
    }

    /** Waits for the error that ended them. */
    SluiceException awaitCut() {
        return Patience.await(cut);
    }
}
