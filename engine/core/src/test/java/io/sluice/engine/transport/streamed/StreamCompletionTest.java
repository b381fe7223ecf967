package io.sluice.engine.transport.streamed;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.Filling;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A transfer completes into a stream's event: on the device where the transport knows it, on the host elsewhere. */
class StreamCompletionTest {
    // of several chunks
    private static final int BYTES = 3 << 20;
    private static final int PAGE_BYTES = BYTES / 4;
    private static final String KNOWN = StreamedTransportProvider.DEVICE;

    private TransferEngine initiator;
    private TransferEngine target;
    private Connection connection;
    private MemoryRegion local;
    private MemoryRegion served;
    private RemoteRegion remote;
    private final LinkedBlockingQueue<Optional<SluiceException>> ends = new LinkedBlockingQueue<>();

    private void open(String transport) {
        initiator = engine(transport);
        target = engine(transport);
        connection = await(initiator.connect(target.address()));
        local = initiator.allocate(BYTES, RegionOptions.local());
        served = target.allocate(BYTES, RegionOptions.readWrite());
        remote = await(connection.attach(served.descriptor()));
    }

    private static TransferEngine engine(String transport) {
        return TransferEngine.open(
                PatientOptions.builder().transports(List.of(transport)).build());
    }

    @AfterEach
    void close() {
        await(initiator.closeAsync());
        await(target.closeAsync());
    }

    private void ended(Transfer transfer, @Nullable SluiceException error) {
        ends.add(Optional.ofNullable(error));
    }

    private Optional<SluiceException> awaitEnd() {
        return Patience.take("the end of a run", ends);
    }

    /** The operation that moves all bytes of the region. */
    enum Kind {
        READ,
        WRITE,
        ELEMENTS,
        PAGES
    }

    private void start(Kind kind, TransferOptions options) {
        switch (kind) {
            case READ -> connection.read(local, 0, remote, 0, BYTES, options, this::ended);
            case WRITE -> connection.write(local, 0, remote, 0, BYTES, options, this::ended);
            case ELEMENTS ->
                connection.writeVectored(
                        List.of(
                                new TransferElement(local, PAGE_BYTES, remote, PAGE_BYTES, BYTES - PAGE_BYTES),
                                new TransferElement(local, 0, remote, 0, PAGE_BYTES)),
                        options,
                        new Elements());
            case PAGES -> {
                int[] pages = {3, 1, 0, 2};
                connection.writePages(
                        local,
                        pages,
                        remote,
                        pages,
                        PAGE_BYTES,
                        options,
                        (transfer, failed, error) -> ended(transfer, error));
            }
        }
    }

    private final class Elements implements VectoredTransferCallback {
        @Override
        public void element(int element, @Nullable SluiceException error) {}

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            ended(transfer, error);
        }
    }

    /** A kernel behind the event finds the bytes. */
    private HostStream.Awaited moveBeforeAKernel(HostStream stream, Kind kind) {
        boolean reads = kind == Kind.READ;
        Filling.fill((reads ? served : local).segment(), 3);
        HostStream.Awaited event = stream.await();
        CompletableFuture<Void> kernel = new CompletableFuture<>();
        stream.enqueue(() -> {
            try {
                Filling.assertFilled((reads ? local : served).segment(), 3, 0, BYTES);
                kernel.complete(null);
            } catch (AssertionError e) {
                kernel.completeExceptionally(e);
            }
        });
        assertThat(kernel).isNotDone();
        start(kind, TransferOptions.defaults().completeInto(event));
        await(kernel);
        assertThat(awaitEnd()).isEmpty();
        return event;
    }

    @ParameterizedTest
    @EnumSource
    void aTransportThatKnowsTheStreamLetsTheDeviceSetIt(Kind kind) {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Awaited event = moveBeforeAKernel(stream, kind);
            assertThat(event.deviceSets()).isOne();
            assertThat(event.hostSets()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm", StreamedTransportProvider.NAME})
    void elsewhereTheHostSetsIt(String transport) {
        open(transport);
        try (HostStream stream =
                new HostStream(transport.equals(StreamedTransportProvider.NAME) ? "device-1" : KNOWN)) {
            for (Kind kind : Kind.values()) {
                HostStream.Awaited event = moveBeforeAKernel(stream, kind);
                assertThat(event.deviceSets()).isZero();
                assertThat(event.hostSets()).containsExactly(Optional.empty());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatFailsIsSetOnTheHostAlone(Kind kind) {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Awaited event = stream.await();
            await(served.close());
            start(kind, TransferOptions.defaults().completeInto(event));
            SluiceException error = awaitEnd().orElseThrow();
            assertThat(event.hostSets()).containsExactly(Optional.of(error));
            assertThat(event.deviceSets()).isZero();
            assertThat(error.getCause() == null ? error : error.getCause()).isInstanceOf(RemoteAccessException.class);
        }
    }

    /** The elements that are posted succeed, the last among them. */
    @Test
    void anElementThatIsNeverPostedKeepsTheDeviceFromSettingIt() {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Awaited event = stream.await();
            MemoryRegion closed = initiator.allocate(64, RegionOptions.local());
            await(closed.close());
            connection.writeVectored(
                    List.of(
                            new TransferElement(local, 0, remote, 0, 64),
                            new TransferElement(closed, 0, remote, 0, 64),
                            new TransferElement(local, 64, remote, 64, 64)),
                    TransferOptions.defaults().completeInto(event),
                    new Elements());
            SluiceException error = awaitEnd().orElseThrow();
            assertThat(error).isInstanceOf(ElementsFailedException.class);
            assertThat(event.hostSets()).containsExactly(Optional.of(error));
            assertThat(event.deviceSets()).isZero();
        }
    }

    @Test
    void whatIsCancelledBeforeItIsPostedIsSetOnTheHost() {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Awaited event = stream.await();
            StartEvent never = StartEvent.of(new CompletableFuture<>());
            Transfer transfer = connection.write(
                    local,
                    0,
                    remote,
                    0,
                    BYTES,
                    TransferOptions.defaults().startAfter(never).completeInto(event),
                    this::ended);
            transfer.cancel();
            assertThat(awaitEnd()).containsInstanceOf(TransferCancelledException.class);
            assertThat(event.hostSets()).hasSize(1);
            assertThat(event.deviceSets()).isZero();
        }
    }

    @Test
    void aSignalIsSetOnTheHost() {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Awaited event = stream.await();
            connection.writeWithSignal(
                    local,
                    0,
                    remote,
                    64,
                    64,
                    new RemoteSignal(remote, 0).weak(),
                    TransferOptions.defaults().completeInto(event),
                    this::ended);
            assertThat(awaitEnd()).isEmpty();
            assertThat(event.hostSets()).containsExactly(Optional.empty());
            assertThat(event.deviceSets()).isZero();
        }
    }

    @Test
    void aPreparedTransferCompletesInEachRun() {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Awaited event = stream.await();
            PreparedTransfer prepared = connection
                    .prepared()
                    .write(
                            local,
                            0,
                            remote,
                            0,
                            BYTES,
                            TransferOptions.defaults().completeInto(event),
                            this::ended);
            for (int run = 1; run <= 3; run++) {
                prepared.start();
                assertThat(awaitEnd()).isEmpty();
                assertThat(event.deviceSets()).isEqualTo(run);
                await(prepared.quiesced());
            }
            assertThat(event.hostSets()).isEmpty();
        }
    }

    /** The device orders both ends: the host takes no part between a stream's event and the other stream's wait. */
    @Test
    void aTransferGoesFromOneStreamToAnother() {
        open(StreamedTransportProvider.NAME);
        try (HostStream producer = new HostStream(KNOWN);
                HostStream consumer = new HostStream(KNOWN)) {
            producer.enqueue(() -> Filling.fill(local.segment(), 9));
            HostStream.Recorded filled = producer.record();
            HostStream.Awaited moved = consumer.await();
            CompletableFuture<Boolean> kernel = new CompletableFuture<>();
            consumer.enqueue(() -> kernel.complete(local.segment().mismatch(served.segment()) == -1));
            start(Kind.WRITE, TransferOptions.defaults().startAfter(filled).completeInto(moved));
            assertThat(await(kernel)).isTrue();
            assertThat(awaitEnd()).isEmpty();
            assertThat(filled.hostWaits()).isZero();
            assertThat(moved.deviceSets()).isOne();
            assertThat(moved.hostSets()).isEmpty();
        }
    }
}
