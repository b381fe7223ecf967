package io.sluice.engine.transport.streamed;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.Filling;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A transfer starts after a stream's event: on the device where the transport knows it, on the host elsewhere. */
class StreamEventTest {
    // of several chunks
    private static final int BYTES = (3 << 20) + 5;
    private static final String KNOWN = StreamedTransportProvider.DEVICE;
    private static final String UNKNOWN = "device-1";

    private TransferEngine initiator;
    private TransferEngine target;
    private Connection connection;
    private MemoryRegion local;
    private MemoryRegion served;
    private RemoteRegion remote;
    private final CountDownLatch kernelMayRun = new CountDownLatch(1);
    private final CompletableFuture<Optional<SluiceException>> end = new CompletableFuture<>();

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
        kernelMayRun.countDown();
        await(initiator.closeAsync());
        await(target.closeAsync());
    }

    /** A write of what a kernel on the stream fills in, submitted before the kernel runs. */
    private HostStream.Recorded writeBehindAKernel(HostStream stream) {
        stream.enqueue(() -> {
            await(kernelMayRun);
            Filling.fill(local.segment(), 3);
        });
        HostStream.Recorded event = stream.record();
        connection.write(
                local,
                0,
                remote,
                0,
                BYTES,
                TransferOptions.defaults().startAfter(event),
                (transfer, error) -> end.complete(Optional.ofNullable(error)));
        return event;
    }

    private void runKernelAndCheck() {
        assertThat(end).isNotDone();
        kernelMayRun.countDown();
        assertThat(await(end)).isEmpty();
        Filling.assertFilled(served.segment(), 3, 0, BYTES);
    }

    @Test
    void aTransportThatKnowsTheStreamHasTheWholeTransferBeforeTheEvent() {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Recorded event = writeBehindAKernel(stream);
            InFlightWindow window = connection.window();
            until("all of it is posted", () -> window.bytes() == BYTES && window.operations() == 1);
            runKernelAndCheck();
            assertThat(event.hostWaits()).isZero();
            assertThat(window.bytes()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", StreamedTransportProvider.NAME})
    void elsewhereTheHostWaitsAndNothingIsPosted(String transport) {
        open(transport);
        try (HostStream stream = new HostStream(transport.equals("tcp") ? KNOWN : UNKNOWN)) {
            HostStream.Recorded event = writeBehindAKernel(stream);
            assertThat(event.hostWaits()).isOne();
            // what it is asked later is answered behind the submission
            await(connection.lookup("nothing").handle((descriptor, error) -> error));
            assertThat(connection.window().operations()).isZero();
            runKernelAndCheck();
            assertThat(event.hostWaits()).isOne();
        }
    }

    @Test
    void aTransferThatIsCancelledWhileItsDeviceWaitsIsQuietOnceTheEventHasHappened() {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Recorded event = stream.record();
            stream.enqueue(() -> await(kernelMayRun));
            HostStream.Recorded later = stream.record();
            Transfer written = connection.write(
                    local,
                    0,
                    remote,
                    0,
                    BYTES,
                    TransferOptions.defaults().startAfter(later),
                    (transfer, error) -> end.complete(Optional.ofNullable(error)));
            until("it is posted", () -> connection.window().bytes() == BYTES);
            written.cancel();
            until("it has ended", written::isTerminated);
            assertThat(written.quiesced()).isNotDone();
            assertThat(connection.window().bytes()).isEqualTo(BYTES);
            kernelMayRun.countDown();
            await(written.quiesced());
            until("the credits are back", () -> connection.window().bytes() == 0);
            assertThat(event.hostWaits() + later.hostWaits()).isZero();
        }
    }

    @Test
    void aConnectionThatClosesEndsWhatItsDeviceWaitsWith() {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            writeBehindAKernel(stream);
            until("it is posted", () -> connection.window().bytes() == BYTES);
            await(connection.close());
            assertThat(await(end)).containsInstanceOf(ConnectionClosedException.class);
            kernelMayRun.countDown();
        }
        assertThat(connection.window().bytes()).isZero();
    }

    @Test
    void aPreparedTransferIsOrderedInEachRun() {
        open(StreamedTransportProvider.NAME);
        try (HostStream stream = new HostStream(KNOWN)) {
            HostStream.Recorded event = stream.record();
            LinkedBlockingQueue<Optional<SluiceException>> ends = new LinkedBlockingQueue<>();
            PreparedTransfer prepared = connection
                    .prepared()
                    .write(
                            local,
                            0,
                            remote,
                            0,
                            BYTES,
                            TransferOptions.defaults().startAfter(event),
                            (transfer, error) -> ends.add(Optional.ofNullable(error)));
            for (int run = 0; run < 3; run++) {
                prepared.start();
                assertThat(Patience.take("the end of a run", ends)).isEmpty();
                await(prepared.quiesced());
            }
            assertThat(event.hostWaits()).isZero();
        }
    }
}
