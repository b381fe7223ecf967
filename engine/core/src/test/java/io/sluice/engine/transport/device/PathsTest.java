package io.sluice.engine.transport.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.CapturedLog;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.PathPolicy;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.control.Frame;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.tls.WireTap;
import io.sluice.engine.transport.shm.ShmOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connection has paths of several transports, and which one carries a transfer is settled when a region is attached. */
class PathsTest {
    private static final long BYTES = 1 << 20;
    // statuses of an answer to attach, on the wire
    private static final int OK = 0;
    private static final int TOO_MANY = 5;
    private static final TransferOptions NO_DEADLINE = TransferOptions.defaults();

    private final List<TransferEngine> engines = new ArrayList<>();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
        arena.close();
    }

    private TransferEngine engine(List<String> transports, Consumer<EngineOptions.Builder> more) {
        EngineOptions.Builder options = PatientOptions.builder().transports(transports);
        more.accept(options);
        TransferEngine engine = TransferEngine.open(options.build());
        engines.add(engine);
        return engine;
    }

    private TransferEngine engine(String... transports) {
        return engine(List.of(transports), options -> {});
    }

    private TransferEngine all() {
        return engine("shm", "tcp", "device");
    }

    private static List<String> names(Connection connection) {
        return connection.paths().stream().map(ConnectionPath::transport).toList();
    }

    private static TransportMetrics figures(TransferEngine engine, String transport) {
        return engine.metrics().transports().stream()
                .filter(each -> each.name().equals(transport))
                .findFirst()
                .orElseThrow();
    }

    private static void write(MemoryRegion local, RemoteRegion remote) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        remote.connection().write(local, 0, remote, 0, BYTES, NO_DEADLINE, (transfer, error) -> complete(end, error));
        Patience.await(end);
    }

    private static void read(MemoryRegion local, RemoteRegion remote) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        remote.connection().read(local, 0, remote, 0, BYTES, NO_DEADLINE, (transfer, error) -> complete(end, error));
        Patience.await(end);
    }

    private static void complete(CompletableFuture<Void> end, @Nullable SluiceException error) {
        if (error == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(error);
        }
    }

    private static void fill(MemorySegment segment, long first) {
        for (long i = 0; i < segment.byteSize() / Long.BYTES; i++) {
            segment.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, first + 31 * i);
        }
    }

    private static void assertSame(MemoryRegion one, MemoryRegion other) {
        assertThat(DeviceMemory.contents(one).mismatch(DeviceMemory.contents(other)))
                .isEqualTo(-1);
    }

    /** Writes and reads back, and says what each transport has carried of it. */
    private static void assertCarriedBy(
            String transport, TransferEngine initiator, MemoryRegion local, MemoryRegion target, RemoteRegion remote) {
        List<String> others = new ArrayList<>(names(remote.connection()));
        others.remove(transport);
        long[] before = others.stream()
                .mapToLong(other -> figures(initiator, other).wireBytesSent())
                .toArray();
        long sent = figures(initiator, transport).wireBytesSent();
        long received = figures(initiator, transport).wireBytesReceived();
        fill(DeviceMemory.contents(local), sent + 7);
        write(local, remote);
        assertSame(local, target);
        fill(DeviceMemory.contents(target), received + 8);
        read(local, remote);
        assertSame(local, target);
        assertThat(figures(initiator, transport).wireBytesSent()).isGreaterThanOrEqualTo(sent + BYTES);
        assertThat(figures(initiator, transport).wireBytesReceived()).isGreaterThanOrEqualTo(received + BYTES);
        for (int i = 0; i < before.length; i++) {
            assertThat(figures(initiator, others.get(i)).wireBytesSent() - before[i])
                    .as(others.get(i))
                    .isLessThan(BYTES);
        }
    }

    @Test
    void eachMemoryGoesByThePathThatReachesIt() {
        TransferEngine initiator = all();
        TransferEngine target = all();
        Connection connection = Patience.await(initiator.connect(target.address()));
        assertThat(connection.transport()).isEqualTo("shm");
        assertThat(names(connection)).containsExactly("shm", "tcp", "device");
        assertThat(connection.paths())
                .allSatisfy(path -> assertThat(path.lanes(PathState.UP)).isPositive());
        assertThat(connection.paths().getLast().memory()).containsExactly(MemoryKind.HOST, MemoryKind.CUDA);
        assertThat(connection.paths().getLast().reason()).contains("shm, tcp");
        assertThat(figures(initiator, "tcp").lanes(PathState.UP)).isPositive();
        assertThat(figures(initiator, "tcp").connections()).isZero();
        assertThat(figures(initiator, "shm").connections()).isOne();

        MemoryRegion host = initiator.allocate(BYTES, RegionOptions.local());
        MemoryRegion device = initiator.allocate(BYTES, DeviceMemory.on(RegionOptions.local()));
        MemoryRegion allocated = target.allocate(BYTES, RegionOptions.readWrite());
        MemoryRegion registered = target.register(arena.allocate(BYTES, 8), RegionOptions.readWrite());
        MemoryRegion ofDevice = target.allocate(BYTES, DeviceMemory.on(RegionOptions.readWrite()));
        List<RemoteRegion> remote = Patience.await(
                connection.attach(List.of(allocated.descriptor(), registered.descriptor(), ofDevice.descriptor())));
        assertThat(remote).extracting(region -> region.path().transport()).containsExactly("shm", "tcp", "device");
        assertThat(remote)
                .extracting(region -> region.path(MemoryKind.CUDA).transport())
                .containsOnly("device");
        assertThat(remote).extracting(region -> region.wordPath().transport()).containsExactly("shm", "tcp", "device");
        assertThat(remote.get(1).path().reason()).contains("shm");

        assertCarriedBy("shm", initiator, host, allocated, remote.get(0));
        assertCarriedBy("tcp", initiator, host, registered, remote.get(1));
        assertCarriedBy("device", initiator, host, ofDevice, remote.get(2));
        assertCarriedBy("device", initiator, device, allocated, remote.get(0));
        assertCarriedBy("device", initiator, device, registered, remote.get(1));
        assertCarriedBy("device", initiator, device, ofDevice, remote.get(2));
        for (MemoryRegion region : List.of(allocated, registered, ofDevice)) {
            Patience.await(region.close());
        }
    }

    /** The bytes and the signal of one write go over two paths, as do the writes before a notification. */
    @Test
    void whatFollowsWritesComesAfterThoseOfAllPaths() {
        TransferEngine initiator = all();
        TransferEngine target = all();
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        target.onConnection(accepted::complete);
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion host = initiator.allocate(BYTES, RegionOptions.local());
        MemoryRegion ofDevice = target.allocate(BYTES, DeviceMemory.on(RegionOptions.readWrite()));
        MemoryRegion words = target.register(arena.allocate(64, 8), RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(ofDevice.descriptor()));
        RemoteRegion remoteWords = Patience.await(connection.attach(words.descriptor()));
        MemorySegment bytes = DeviceMemory.contents(ofDevice);
        for (long round = 1; round <= 50; round++) {
            fill(host.segment(), round);
            CompletableFuture<Void> end = new CompletableFuture<>();
            RemoteSignal signal = new RemoteSignal(remoteWords, 0);
            connection.writeWithSignal(
                    host,
                    0,
                    remote,
                    0,
                    BYTES,
                    round % 2 == 0 ? signal.strong() : signal.weak(),
                    NO_DEADLINE,
                    (transfer, error) -> complete(end, error));
            Patience.await(words.signal(0).awaitAtLeast(round));
            assertThat(bytes.mismatch(host.segment())).isEqualTo(-1);
            Patience.await(end);
        }
        List<Long> seen = new ArrayList<>();
        CompletableFuture<Void> all = new CompletableFuture<>();
        Patience.await(accepted)
                .subscribe(new NotificationListener() {
                    @Override
                    public void notification(byte[] payload) {
                        seen.add(bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, BYTES - Long.BYTES));
                        all.complete(null);
                    }

                    @Override
                    public void ended(@Nullable SluiceException error) {}
                })
                .request(1);
        fill(host.segment(), 1000);
        connection.write(host, 0, remote, 0, BYTES, NO_DEADLINE, (transfer, error) -> {});
        connection.notify(new byte[1], NO_DEADLINE, (transfer, error) -> {});
        Patience.await(all);
        assertThat(seen).containsExactly(host.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, BYTES - Long.BYTES));
        Patience.await(connection.quiet());
        Patience.await(connection.flush());
    }

    @Test
    void crossMemoryCopiesGoByShmAndWordsByTcp() {
        Consumer<EngineOptions.Builder> crossing = options ->
                options.transport(ShmOptions.builder().crossMemoryAttach(true).build());
        TransferEngine initiator = engine(List.of("shm"), crossing);
        TransferEngine target = engine(List.of("shm"), crossing);
        Connection connection = Patience.await(initiator.connect(target.address()));
        assertThat(names(connection)).containsExactly("shm", "tcp");
        MemoryRegion registered = target.register(arena.allocate(BYTES, 8), RegionOptions.readWrite());
        RemoteRegion remote = Patience.await(connection.attach(registered.descriptor()));
        // a container may forbid it
        assumeThat(remote.path().reason()).doesNotContain("process_vm", "cross-memory attach is not possible");
        assertThat(remote.path().transport()).isEqualTo("shm");
        assertThat(remote.wordPath().transport()).isEqualTo("tcp");
        assertThat(remote.wordPath().reason()).contains("shm").contains("copies");
        assertCarriedBy("shm", initiator, initiator.allocate(BYTES, RegionOptions.local()), registered, remote);
    }

    /** Operations of the initiator's processors on mapped words are not atomic towards an adapter. */
    @Test
    void shmLeavesTheWordsOfAnAdapterToOtherPaths() {
        TransferEngine initiator = all();
        TransferEngine target = all();
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion allocated = target.allocate(
                BYTES, new RegionOptions(RegionOptions.readWrite().access(), null, AtomicDomain.NETWORK_ADAPTER));
        RemoteRegion remote = Patience.await(connection.attach(allocated.descriptor()));
        assertThat(remote.path().transport()).isEqualTo("shm");
        assertThat(remote.wordPath().transport()).isEqualTo("tcp");
    }

    @Test
    void aPolicyOfTheUsersSettlesIt() {
        List<PathPolicy.Question> asked = new ArrayList<>();
        TransferEngine initiator = engine(
                List.of("shm", "tcp", "device"),
                options -> options.pathPolicy(question -> {
                    asked.add(question);
                    return question.candidates().getLast();
                }));
        TransferEngine target = all();
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion allocated = target.allocate(BYTES, RegionOptions.readWrite());
        MemoryRegion ofDevice = target.allocate(BYTES, DeviceMemory.on(RegionOptions.readWrite()));
        RemoteRegion remote = Patience.await(connection.attach(allocated.descriptor()));
        assertThat(remote.path().transport()).isEqualTo("device");
        assertThat(remote.path().reason()).contains("policy").contains("shm");
        assertCarriedBy("device", initiator, initiator.allocate(BYTES, RegionOptions.local()), allocated, remote);
        assertThat(asked).extracting(PathPolicy.Question::device).containsOnlyNulls();
        asked.clear();
        Patience.await(connection.attach(ofDevice.descriptor()));
        assertThat(asked).extracting(PathPolicy.Question::device).containsOnly(DeviceMemory.DEVICE);
        Patience.await(allocated.close());
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, AssertionError.class})
    void aPolicyThatFailsFailsTheAttachAlone(Class<? extends Throwable> thrown) {
        TransferEngine initiator = engine(
                List.of("tcp"),
                options -> options.pathPolicy(question -> {
                    if (thrown.equals(AssertionError.class)) {
                        throw new AssertionError("as the test wants it");
                    }
                    throw new IllegalStateException("as the test wants it");
                }));
        TransferEngine target = engine("tcp");
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion region = target.allocate(BYTES, RegionOptions.readWrite());
        assertThat(Patience.failure(connection.attach(region.descriptor()), SluiceException.class))
                .hasMessageContaining("policy")
                .hasMessageContaining("as the test wants it");
        assertThat(Patience.await(connection.lookup(
                        target.allocate(8, RegionOptions.readWrite().named("x")).name())))
                .isNotNull();
    }

    @Test
    void transportThatReachesEverythingHasNoSecondPath() {
        TransferEngine initiator = engine("tcp", "shm");
        TransferEngine target = engine("tcp", "shm");
        Connection connection = Patience.await(initiator.connect(target.address()));
        assertThat(names(connection)).containsExactly("tcp");
    }

    @Test
    void pathThatCannotBeSetUpIsLeftOut() {
        try (CapturedLog log = CapturedLog.everything()) {
            TransferEngine initiator =
                    engine(List.of("shm", "tcp", "device"), options -> options.name(UnreliableEndpoint.WITHOUT_DEVICE));
            TransferEngine target = all();
            Connection there = Patience.await(initiator.connect(target.address()));
            assertThat(names(there)).containsExactly("shm", "tcp");
            assertThat(log.lines())
                    .anySatisfy(line -> assertThat(line).contains("device").contains("the device is asleep"));
            Connection back = Patience.await(target.connect(initiator.address()));
            assertThat(names(back)).containsExactly("shm", "tcp");
            MemoryRegion ofDevice = target.allocate(BYTES, DeviceMemory.on(RegionOptions.readWrite()));
            Patience.failure(there.attach(ofDevice.descriptor()), MemoryNotAccessibleException.class);
        }
    }

    /** The device would reach everything by itself, had it not refused some; tcp has taken that. */
    @Test
    void connectionOverATransportThatHasRefusedMemoryHasAnotherPath() {
        long bytes = DeviceTransportProvider.REFUSED_BYTES;
        TransferEngine one = engine("device", "tcp");
        TransferEngine other = engine("device", "tcp");
        Connection before = Patience.await(one.connect(other.address()));
        assertThat(names(before)).containsExactly("device");
        MemoryRegion refused = other.allocate(bytes, RegionOptions.readWrite());
        assertThat(Patience.failure(before.attach(refused.descriptor()), MemoryNotAccessibleException.class))
                .hasMessageContaining("connect again");

        // whether this side has refused it or the other, and whichever connects
        Connection there = Patience.await(one.connect(other.address()));
        assertThat(names(there)).containsExactly("device", "tcp");
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        one.onConnection(accepted::complete);
        assertThat(names(Patience.await(other.connect(one.address())))).containsExactly("device", "tcp");
        for (Connection connection : List.of(there, Patience.await(accepted))) {
            RemoteRegion remote = Patience.await(connection.attach(refused.descriptor()));
            assertThat(remote.path().transport()).isEqualTo("tcp");
            MemoryRegion local = one.allocate(BYTES, RegionOptions.local());
            fill(local.segment().asSlice(0, 4096), 3);
            CompletableFuture<Void> end = new CompletableFuture<>();
            connection.write(local, 0, remote, 0, bytes, NO_DEADLINE, (transfer, error) -> complete(end, error));
            Patience.await(end);
            assertThat(refused.segment().mismatch(local.segment().asSlice(0, bytes)))
                    .isEqualTo(-1);
        }
    }

    /** The path broke before the connection was open, while other paths were still being set up. */
    @Test
    void pathThatBreaksWhileOthersAreSetUpIsDoneWithout() {
        TransferEngine initiator = engine(
                List.of("shm", "tcp", "device"), options -> options.name(UnreliableEndpoint.WITH_A_BREAKING_DEVICE));
        TransferEngine target = all();
        List<Connection> accepted = new CopyOnWriteArrayList<>();
        target.onConnection(accepted::add);
        assertThat(names(Patience.await(initiator.connect(target.address())))).containsExactly("shm", "tcp");
        assertThat(names(Patience.await(target.connect(initiator.address())))).containsExactly("shm", "tcp");
        assertThat(accepted).allSatisfy(each -> assertThat(names(each)).containsExactly("shm", "tcp"));
    }

    @Test
    void endpointsOfAConnectionThatCannotBeMadeAreClosed() {
        int before = UnreliableEndpoint.forgetful();
        TransferEngine target = engine("device");
        TransferEngine initiator =
                engine(List.of("device"), options -> options.name(UnreliableEndpoint.WITHOUT_CAPABILITIES));
        initiator.connect(target.address());
        Patience.until("an endpoint was made", () -> UnreliableEndpoint.forgetful() > before);
        Patience.until("it is closed", () -> !UnreliableEndpoint.some());
    }

    /** One answer to so many is longer than what a control channel takes. */
    @Test
    void manyRegionsWithLongKeysAreAttachedByMoreThanOneAnswer() throws Exception {
        TransferEngine initiator = all();
        TransferEngine target =
                engine(List.of("shm", "tcp", "device"), options -> options.name(UnreliableEndpoint.WITH_LONG_KEYS));
        try (WireTap tap = new WireTap(target.address().port())) {
            attachManyWithLongKeys(initiator, target, tap.port());
            // a peer of an earlier version knows this status, and takes the rest as refused
            assertThat(tap.seen())
                    .flatExtracting(PathsTest::statusesOfAttachResults)
                    .containsOnly(OK, TOO_MANY);
        }
    }

    private static void attachManyWithLongKeys(TransferEngine initiator, TransferEngine target, int port) {
        Connection connection = Patience.await(initiator.connect(EngineAddress.of("127.0.0.1", port)));
        List<RegionDescriptor> descriptors = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            descriptors.add(target.allocate(BYTES, DeviceMemory.on(RegionOptions.readWrite()))
                    .descriptor());
        }
        List<RegionDescriptor> asked = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            asked.add(descriptors.get(i % descriptors.size()));
        }
        List<RemoteRegion> remote = Patience.await(connection.attach(asked));
        assertThat(remote).extracting(RemoteRegion::descriptor).isEqualTo(asked);
        assertThat(remote).extracting(region -> region.path().transport()).containsOnly("device");
        write(initiator.allocate(BYTES, RegionOptions.local()), remote.getLast());
    }

    /** Parses the answers to attach from the control messages of one direction of a socket. */
    private static List<Integer> statusesOfAttachResults(byte[] stream) {
        List<Integer> statuses = new ArrayList<>();
        ByteBuffer messages = ByteBuffer.wrap(stream);
        while (messages.remaining() >= Frame.HEADER && messages.getShort() == Frame.MAGIC) {
            messages.get();
            int type = messages.get();
            int length = messages.getInt();
            if (length > messages.remaining()) {
                // the rest is on its way
                break;
            }
            ByteBuffer body = messages.slice(messages.position(), length);
            messages.position(messages.position() + length);
            body.position(type == MessageType.ATTACH_RESULT ? Long.BYTES : body.limit());
            while (body.hasRemaining()) {
                int status = body.get();
                statuses.add(status);
                body.getLong();
                if (status == OK) {
                    body.position(body.position() + 1 + body.get(body.position()));
                    int paths = body.get();
                    for (int i = 0; i < paths; i++) {
                        body.get();
                        body.position(body.position() + Short.BYTES + body.getShort(body.position()));
                    }
                } else {
                    body.getShort();
                }
            }
        }
        return statuses;
    }

    @Test
    void memoryThatOneTransportRefusesIsReachedByTheOthers() {
        try (CapturedLog log = CapturedLog.warnings()) {
            TransferEngine initiator = all();
            TransferEngine target = all();
            MemoryRegion refused = target.allocate(DeviceTransportProvider.REFUSED_BYTES, RegionOptions.readWrite());
            target.allocate(DeviceTransportProvider.REFUSED_BYTES, RegionOptions.readWrite());
            assertThat(log.lines()).filteredOn(line -> line.contains("unlucky")).hasSize(1);
            Connection connection = Patience.await(initiator.connect(target.address()));
            RemoteRegion remote = Patience.await(connection.attach(refused.descriptor()));
            assertThat(remote.path().transport()).isEqualTo("shm");
            assertThatThrownBy(() -> remote.path(MemoryKind.CUDA)).isInstanceOf(MemoryNotAccessibleException.class);
            MemoryRegion device = initiator.allocate(8, DeviceMemory.on(RegionOptions.local()));
            assertThatThrownBy(() -> connection.write(device, 0, remote, 0, 8, NO_DEADLINE, (transfer, error) -> {}))
                    .isInstanceOf(MemoryNotAccessibleException.class);
            MemoryRegion source = initiator.allocate(DeviceTransportProvider.REFUSED_BYTES, RegionOptions.local());
            RemoteRegion ofDevice =
                    Patience.await(connection.attach(target.allocate(BYTES, DeviceMemory.on(RegionOptions.readWrite()))
                            .descriptor()));
            assertThatThrownBy(() -> connection.write(source, 0, ofDevice, 0, 8, NO_DEADLINE, (transfer, error) -> {}))
                    .isInstanceOf(MemoryNotAccessibleException.class)
                    .hasMessageContaining("unlucky");
        }
        TransferEngine alone = engine("device");
        assertThatThrownBy(() -> alone.allocate(DeviceTransportProvider.REFUSED_BYTES, RegionOptions.local()))
                .hasMessageContaining("unlucky");
    }
}
