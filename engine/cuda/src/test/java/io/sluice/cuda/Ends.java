package io.sluice.cuda;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Transfers as futures. */
final class Ends {
    private static final TransferOptions OPTIONS = TransferOptions.defaults();

    private Ends() {}

    static CompletableFuture<Void> write(MemoryRegion local, long at, RemoteRegion remote, long to, long bytes) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        remote.connection().write(local, at, remote, to, bytes, OPTIONS, (transfer, error) -> complete(end, error));
        return end;
    }

    static CompletableFuture<Void> read(MemoryRegion local, long at, RemoteRegion remote, long from, long bytes) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        remote.connection().read(local, at, remote, from, bytes, OPTIONS, (transfer, error) -> complete(end, error));
        return end;
    }

    static CompletableFuture<Void> pages(
            boolean write, MemoryRegion local, int[] locals, RemoteRegion remote, int[] remotes, long pageBytes) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        if (write) {
            remote.connection()
                    .writePages(local, locals, remote, remotes, pageBytes, OPTIONS, (t, failed, e) -> complete(end, e));
        } else {
            remote.connection()
                    .readPages(local, locals, remote, remotes, pageBytes, OPTIONS, (t, failed, e) -> complete(end, e));
        }
        return end;
    }

    static CompletableFuture<Void> vectored(List<TransferElement> elements) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        elements.getFirst().remote().connection().writeVectored(elements, OPTIONS, new VectoredTransferCallback() {
            @Override
            public void element(int index, @Nullable SluiceException error) {}

            @Override
            public void terminated(Transfer transfer, @Nullable SluiceException error) {
                complete(end, error);
            }
        });
        return end;
    }

    static void complete(CompletableFuture<Void> end, @Nullable SluiceException error) {
        if (error == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(error);
        }
    }
}
