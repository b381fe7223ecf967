package io.sluice.engine.transport.verbs;

import io.sluice.engine.Connection;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Transfers of all kinds to a peer, each started when one before it has succeeded, until all of them have met an error. */
final class EndlessTransfers {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();
    private static final int KINDS = 6;
    private static final int CHAINS = 4 * KINDS;
    private static final int SLOT_BYTES = 16_384;
    /** How large both regions must be. */
    static final long REGION_BYTES = (long) CHAINS * SLOT_BYTES;

    private final Connection connection;
    private final MemoryRegion local;
    private final RemoteRegion remote;
    private final AtomicInteger running = new AtomicInteger(CHAINS);
    private final AtomicInteger succeeded = new AtomicInteger();
    private final ConcurrentLinkedQueue<SluiceException> errors = new ConcurrentLinkedQueue<>();

    EndlessTransfers(Connection connection, MemoryRegion local, RemoteRegion remote) {
        this.connection = connection;
        this.local = local;
        this.remote = remote;
        for (int chain = 0; chain < CHAINS; chain++) {
            next(chain);
        }
    }

    int succeeded() {
        return succeeded.get();
    }

    void awaitProgress(int more) {
        int before = succeeded.get();
        Patience.until("transfers succeed", () -> succeeded.get() >= before + more);
    }

    /** Waits until none is left. */
    List<SluiceException> awaitEnd() {
        Patience.until("every transfer ends", () -> running.get() == 0);
        return List.copyOf(errors);
    }

    private void next(int chain) {
        End end = new End(chain);
        long at = (long) chain * SLOT_BYTES;
        try {
            switch (chain % KINDS) {
                case 0 -> connection.write(local, at, remote, at, SLOT_BYTES, DEFAULTS, end);
                case 1 -> connection.read(local, at, remote, at, SLOT_BYTES, DEFAULTS, end);
                case 2 -> connection.notify(new byte[700], DEFAULTS, end);
                case 3 -> connection.signal(new RemoteSignal(remote, at).weak(), DEFAULTS, end);
                case 4 -> connection.fetchAdd(remote, at, 1, DEFAULTS, end);
                default ->
                    connection.writeWithSignal(
                            local, at, remote, at, 4096, new RemoteSignal(remote, at + 8192).strong(), DEFAULTS, end);
            }
        } catch (SluiceException e) {
            end.ended(e);
        }
    }

    private final class End implements TransferCallback, FetchCallback {
        private final int chain;

        End(int chain) {
            this.chain = chain;
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            ended(error);
        }

        @Override
        public void terminated(Transfer transfer, long previous, @Nullable SluiceException error) {
            ended(error);
        }

        private void ended(@Nullable SluiceException error) {
            if (error == null) {
                succeeded.incrementAndGet();
                next(chain);
            } else {
                errors.add(error);
                running.decrementAndGet();
            }
        }
    }
}
