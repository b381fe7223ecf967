package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A mapped file is cut short whose words the peer's messages ask to change: each request fails, and no connection does. */
@Tag("verbs")
class CutFileWordsTest {
    private static final int BYTES = 4096;

    private static SluiceException failure(Consumer<FetchCallback> operation) {
        CompletableFuture<Long> previous = new CompletableFuture<>();
        operation.accept((transfer, value, error) -> {
            if (error == null) {
                previous.complete(value);
            } else {
                previous.completeExceptionally(error);
            }
        });
        return Patience.failure(previous, SluiceException.class);
    }

    @Test
    void requestsFailAloneAndOtherConnectionsGoOn(@TempDir Path folder) throws IOException {
        // one poller: the lanes of both connections are of one group
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(
                        folder.resolve("words"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                VerbsPair pair = VerbsPair.open(builder -> builder.pollers(1))) {
            MemoryRegion words = pair.target()
                    .register(file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena), RegionOptions.readWrite());
            RemoteRegion remote = pair.attach(words);
            Connection other =
                    Patience.await(pair.initiator().connect(pair.target().address()));
            MemoryRegion whole = pair.served(BYTES);
            RemoteRegion othersRemote = Patience.await(other.attach(whole.descriptor()));
            file.truncate(0);

            TransferOptions options = TransferOptions.defaults();
            // more often than the interpreter runs: compiled code reports the fault at another place
            for (int round = 0; round < 300; round++) {
                assertThat(failure(callback -> pair.connection().fetchAdd(remote, 8, 1, options, callback)))
                        .isInstanceOf(RemoteAccessException.class);
                assertThat(failure(callback -> pair.connection().compareAndSwap(remote, 16, 0, 1, options, callback)))
                        .isInstanceOf(RemoteAccessException.class);
                TransferEnd signal = new TransferEnd();
                pair.connection().signal(new RemoteSignal(remote, 24).weak(), options, signal);
                assertThat(signal.await()).get().isInstanceOf(RemoteAccessException.class);
            }
            TransferEnd end = new TransferEnd();
            other.write(pair.local(64), 0, othersRemote, 0, 64, options, end);
            end.awaitSuccess();
            end = new TransferEnd();
            pair.connection().write(pair.local(64), 0, pair.attach(whole), 64, 64, options, end);
            end.awaitSuccess();
        }
    }
}
