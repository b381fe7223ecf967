package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Connection;
import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.DeviceMetrics.Unit;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers start behind an event of a stream of the user's, and complete into a word that another waits for. */
class StreamOrderTest {
    private static final int BYTES = 2 << 20;
    private static final int PAGE_BYTES = 4096;
    private static final byte FILLED = 0x5A;
    private static final long FILLED_WORD = 0x5A5A_5A5A_5A5A_5A5AL;

    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<AutoCloseable> closed = new ArrayList<>();
    private Connection connection;
    private MemoryRegion local;
    private MemoryRegion there;
    private RemoteRegion remote;

    @BeforeEach
    void load() {
        SoftGpu.load();
        SoftGpu.needQueues();
        SoftGpu.awaitKernels(true);
    }

    private void open(boolean copyEngines) {
        if (copyEngines) {
            SoftGpu.needSoftware("a copy engine that goes on while another copy waits for an event");
        }
        TransferEngine initiator = engine(copyEngines);
        TransferEngine target = engine(copyEngines);
        connection = Patience.await(initiator.connect(target.address()));
        local = initiator.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(0)));
        there = target.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(1)));
        remote = Patience.await(connection.attach(there.descriptor()));
    }

    private TransferEngine engine(boolean copyEngines) {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .transport(CudaOptions.builder().copyEngines(copyEngines).build())
                .build());
        engines.add(engine);
        return engine;
    }

    @AfterEach
    void close() throws Exception {
        SoftGpu.refuseCopies(0, 0);
        SoftGpu.delay(0);
        // the driver takes pinned memory back once nothing waits
        closed.stream()
                .filter(UserStream.class::isInstance)
                .map(UserStream.class::cast)
                .forEach(UserStream::open);
        // nor does a stream wait for a word that a failed test has left
        closed.stream()
                .filter(StreamWord.class::isInstance)
                .map(StreamWord.class::cast)
                .forEach(word -> {
                    word.next();
                    word.complete(null);
                });
        for (AutoCloseable each : closed.reversed()) {
            each.close();
        }
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        SoftGpu.awaitKernels(false);
        Patience.until("pinned memory is given back", () -> SoftGpu.count("registrations") == 0);
    }

    /** Before the first gate: the driver makes none while a kernel waits. */
    private List<UserStream> streams(int count) {
        return Stream.generate(() -> stream(0)).limit(count).toList();
    }

    private UserStream stream(int ordinal) {
        UserStream made = new UserStream(ordinal);
        closed.add(made);
        return made;
    }

    private StreamWord word(int ordinal) {
        StreamWord made = StreamWord.allocate(SoftGpu.id(ordinal));
        closed.add(made);
        return made;
    }

    private static TransferOptions after(UserStream stream) {
        return TransferOptions.defaults().startAfter(CudaEvent.of(SoftGpu.id(0), stream.record()));
    }

    private CompletableFuture<Void> write(long at, long bytes, TransferOptions options) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        connection.write(local, at, remote, at, bytes, options, (transfer, error) -> Ends.complete(end, error));
        return end;
    }

    private CompletableFuture<Void> writePages(TransferOptions options) {
        return writePages(BYTES / PAGE_BYTES, PAGE_BYTES, options);
    }

    /** The last page of the list is the remote region's first. */
    private CompletableFuture<Void> writePages(int pages, int pageBytes, TransferOptions options) {
        int[] locals = new int[pages];
        int[] remotes = new int[pages];
        for (int i = 0; i < pages; i++) {
            locals[i] = i;
            remotes[i] = pages - 1 - i;
        }
        CompletableFuture<Void> end = new CompletableFuture<>();
        connection.writePages(
                local, locals, remote, remotes, pageBytes, options, (t, failed, e) -> Ends.complete(end, e));
        return end;
    }

    private DeviceMetrics gpu() {
        return engines.getFirst().metrics().devices().stream()
                .filter(device -> device.device().equals(SoftGpu.id(0)))
                .findFirst()
                .orElseThrow();
    }

    /** The one thread that could wait is held up by a callback from before the event until the bytes have been used. */
    @ParameterizedTest
    @ValueSource(strings = {"bytes", "kernel", "copy engines"})
    void gpus_order_a_transfer_between_two_streams_while_the_host_does_nothing(String how) {
        open(how.equals("copy engines"));
        UserStream filling = stream(0);
        UserStream using = stream(1);
        StreamWord word = word(1);
        assertThat(word.next()).isEqualTo(1);
        filling.gate();
        filling.fill(local.memory().address(), BYTES, FILLED);
        using.await(word.handle());
        using.read(there.memory().address() + BYTES - Long.BYTES);
        using.record();
        TransferOptions options = after(filling).completeInto(word);
        // as many as copy engines are given at once
        CompletableFuture<Void> end =
                how.equals("bytes") ? write(0, BYTES, options) : writePages(128, BYTES / 128, options);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        connection.write(local, 0, remote, 0, 8, TransferOptions.defaults(), (transfer, error) -> {
            entered.countDown();
            Patience.await(release);
        });
        Patience.await(entered);
        try {
            assertThat(using.isDone()).isFalse();
            filling.open();
            Patience.until("the bytes were used", using::isDone);
            assertThat(using.word()).isEqualTo(FILLED_WORD);
            assertThat(end).isNotDone();
        } finally {
            release.countDown();
        }
        Patience.await(end);
    }

    /** There are fewer lanes that wait than events, and those happen in the reverse order. */
    @Test
    void more_events_than_lanes_hold_up_neither_each_other_nor_what_waits_for_none() {
        open(false);
        int count = GpuStreams.ORDERED + 2;
        List<UserStream> streams = streams(count);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            UserStream stream = streams.get(i);
            stream.gate();
            stream.fill(local.memory().address() + (long) i * PAGE_BYTES, PAGE_BYTES, (byte) (i + 1));
            ends.add(write((long) i * PAGE_BYTES, PAGE_BYTES, after(stream)));
        }
        Patience.await(write(BYTES - PAGE_BYTES, PAGE_BYTES, TransferOptions.defaults()));
        assertThat(ends).noneMatch(CompletableFuture::isDone);
        for (int i = count - 1; i >= 0; i--) {
            streams.get(i).open();
            Patience.await(ends.get(i));
            assertThat(SoftGpu.read(1, there.memory().address() + (long) i * PAGE_BYTES, PAGE_BYTES))
                    .containsOnly(i + 1);
        }
    }

    /**
     * Two requests, of which copy engines are given parts and a launch each takes one: the word follows the last of them, and nothing else
     * waits.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_long_list_behind_an_event_is_in_place_before_its_word(boolean copyEngines) {
        open(copyEngines);
        // the second one would find room between parts of the first
        int pages = 1100;
        int pageBytes = 64;
        Unit unit = copyEngines ? Unit.COPY_ENGINE : Unit.KERNEL;
        UserStream filling = stream(0);
        UserStream another = stream(0);
        UserStream using = stream(1);
        StreamWord word = word(1);
        word.next();
        filling.gate();
        filling.fill(local.memory().address(), (long) pages * pageBytes, FILLED);
        using.await(word.handle());
        using.read(there.memory().address());
        long launches = gpu().launches(unit);
        long bytes = gpu().bytes(unit);
        SoftGpu.delay(2_000);
        CompletableFuture<Void> end =
                writePages(pages, pageBytes, after(filling).completeInto(word));
        int behind = pages * pageBytes;
        Patience.await(write(behind, 8, TransferOptions.defaults()));
        Patience.await(write(behind, 8, after(another)));
        assertThat(end).isNotDone();
        assertThat(using.isDone()).isFalse();
        assertThat(SoftGpu.read(1, there.memory().address() + 8, behind - 8)).containsOnly(0);
        filling.open();
        Patience.until("the bytes were used", using::isDone);
        assertThat(using.word()).isEqualTo(FILLED_WORD);
        assertThat(SoftGpu.read(1, there.memory().address(), behind)).containsOnly(FILLED);
        Patience.await(end);
        // of the two words that which waits for an event is copied by a kernel, if kernels are used
        int others = copyEngines ? 2 : 1;
        assertThat(gpu().bytes(unit) - bytes).isEqualTo(behind + 8L * others);
        assertThat(gpu().launches(unit) - launches).isEqualTo(others + (copyEngines ? pages : 2));
    }

    /** As many events as there are lanes have not happened: several requests of one run, too, are kept and go on in order. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_run_that_no_lane_is_free_for_goes_on_when_one_is(boolean copyEngines) {
        open(copyEngines);
        List<UserStream> gates = streams(GpuStreams.ORDERED);
        UserStream filling = stream(0);
        UserStream using = stream(1);
        StreamWord word = word(1);
        word.next();
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (UserStream gate : gates) {
            gate.gate();
            ends.add(write(BYTES - 8, 8, after(gate)));
        }
        int pages = 3000;
        filling.gate();
        filling.fill(local.memory().address(), 64L * pages, FILLED);
        using.await(word.handle());
        using.read(there.memory().address());
        CompletableFuture<Void> end = writePages(pages, 64, after(filling).completeInto(word));
        Patience.await(write(BYTES - 16, 8, TransferOptions.defaults()));
        gates.getFirst().open();
        Patience.await(ends.getFirst());
        assertThat(end).isNotDone();
        filling.open();
        Patience.until("the bytes were used", using::isDone);
        assertThat(using.word()).isEqualTo(FILLED_WORD);
        Patience.await(end);
        assertThat(SoftGpu.read(1, there.memory().address(), 64 * pages)).containsOnly(FILLED);
        assertThat(ends.subList(1, ends.size())).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void a_cancelled_transfer_is_quiescent_once_its_event_has_happened() {
        open(false);
        UserStream stream = stream(0);
        UserStream released = stream(0);
        StreamWord word = word(0);
        word.next();
        stream.gate();
        CompletableFuture<Void> end = new CompletableFuture<>();
        Transfer transfer = connection.write(
                local, 0, remote, 0, BYTES, after(stream).completeInto(word), (t, error) -> Ends.complete(end, error));
        Patience.until("it is posted", () -> connection.window().bytes() == BYTES);
        transfer.cancel();
        Patience.failure(end, SluiceException.class);
        assertThat(transfer.quiesced()).isNotDone();
        // the host stores the word of a failure
        released.await(word.handle());
        Patience.until("the word is stored", released::isDone);
        word.close();
        CompletableFuture<Void> unused = local.close();
        assertThat(unused).isNotDone();
        stream.open();
        Patience.await(transfer.quiesced());
        Patience.await(unused);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_closed_connection_ends_what_waits_in_lanes_and_for_lanes(boolean inParts) {
        open(inParts);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        List<UserStream> streams = streams(GpuStreams.ORDERED + 2);
        List<StreamWord> words = streams.stream().map(stream -> word(0)).toList();
        for (int i = 0; i < streams.size(); i++) {
            UserStream stream = streams.get(i);
            stream.gate();
            words.get(i).next();
            TransferOptions options = after(stream).completeInto(words.get(i));
            ends.add(inParts ? writePages(1500, 64, options) : write(0, 8, options));
        }
        Patience.await(write(8, 8, TransferOptions.defaults()));
        CompletableFuture<Void> closing = connection.close();
        ends.forEach(end -> Patience.failure(end, SluiceException.class));
        streams.forEach(UserStream::open);
        Patience.await(closing);
        Patience.await(local.close());
    }

    /** A copy that the driver does not take ends the run with an error, whose word the host stores. */
    @Test
    void a_run_that_the_driver_refuses_in_part_fails_and_leaves_no_stream_waiting() {
        SoftGpu.needSoftware("a copy that the driver refuses");
        open(true);
        StreamWord word = word(1);
        for (int round = 1; round <= 4; round++) {
            assertThat(word.next()).isEqualTo(round);
            // one in the middle of a call is refused again when it is the first of the next; the last time, in the
            // second part
            SoftGpu.refuseCopies(round == 4 ? 300 : 5, round == 2 ? 0 : 2);
            CompletableFuture<Void> end = writePages(after(stream(0)).completeInto(word));
            if (round == 2) {
                Patience.await(end);
            } else {
                Patience.failure(end, SluiceException.class);
            }
            UserStream using = stream(1);
            using.await(word.handle());
            Patience.until("the word is stored", using::isDone);
            using.read(word.handle());
            Patience.until("the word is read", using::isDone);
            assertThat(using.word()).isEqualTo(round);
        }
    }

    @Test
    void the_host_waits_for_a_transport_that_knows_no_gpu() {
        TransferEngine initiator = TransferEngine.open(
                PatientOptions.builder().transports(List.of("tcp")).build());
        engines.add(initiator);
        TransferEngine target = TransferEngine.open(
                PatientOptions.builder().transports(List.of("tcp")).build());
        engines.add(target);
        connection = Patience.await(initiator.connect(target.address()));
        local = initiator.allocate(64, RegionOptions.local());
        remote = Patience.await(
                connection.attach(target.allocate(64, RegionOptions.readWrite()).descriptor()));
        UserStream stream = stream(0);
        UserStream using = stream(0);
        StreamWord word = word(0);
        word.next();
        stream.gate();
        CompletableFuture<Void> end = write(0, 64, after(stream).completeInto(word));
        Patience.await(write(0, 8, TransferOptions.defaults()));
        assertThat(end).isNotDone();
        stream.open();
        Patience.await(end);
        using.await(word.handle());
        Patience.until("the word is stored", using::isDone);
    }

    /** Its owner may have destroyed it. */
    @Test
    void an_event_that_is_not_awaited_any_more_is_not_looked_at() {
        UserStream stream = stream(0);
        stream.gate();
        AtomicBoolean awaited = new AtomicBoolean(true);
        CompletableFuture<Void> left = new CompletableFuture<>();
        CudaEvent.of(SoftGpu.id(0), stream.record()).whenHappened(new StartEvent.Listener() {
            @Override
            public void happened(Throwable error) {
                left.complete(null);
            }

            @Override
            public boolean isAwaited() {
                return awaited.get();
            }
        });
        assertThat(left).isNotDone();
        awaited.set(false);
        Patience.await(left);
    }

    @Test
    void events_and_words_of_gpus_that_are_not_here_are_refused() {
        assertThatThrownBy(() -> CudaEvent.of("GPU-0", 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CudaEvent.of(SoftGpu.id(0), 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> StreamWord.allocate("GPU-0")).hasMessageContaining("sees no GPU");
    }
}
