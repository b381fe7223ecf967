package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PathPolicy;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.tcp.TcpTransportProvider;
import io.sluice.fuzz.ParserFuzz;
import io.sluice.jni.Sockets;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Questions about regions, and the answers to this side's own, as a peer may send them that has got through the bootstrap. */
class ControlMessagesFuzzTest {
    private static final int ASKED = 2;

    private final RegionRegistry regions = new RegionRegistry(
            List.of(TRANSPORT),
            new DescriptorKeys(EngineId.random(), 1),
            closing -> {},
            null,
            new RegionReleases(Runnable::run, Duration.ofSeconds(10), "fuzz"),
            null);
    private final MemoryRegion region = regions.allocate(4096, RegionOptions.readWrite());

    @AfterEach
    void close() {
        region.close().join();
    }

    /** A loop that drops sent messages and runs no task. */
    private static final class StillLoop implements EventLoop {
        @Override
        public long now() {
            return 0;
        }

        @Override
        public Watch watch(int descriptor, ReadinessHandler handler) {
            return new Watch() {
                @Override
                public void interest(boolean readable, boolean writable) {}

                @Override
                public void cancel() {}
            };
        }

        @Override
        public void addSource(Source source) {}

        @Override
        public void removeSource(Source source) {}

        @Override
        public void atEndOfCycle(Runnable task) {}

        @Override
        public void execute(Runnable task) {}

        @Override
        public void arm(Deadline deadline, long at) {}

        @Override
        public void disarm(Deadline deadline) {}
    }

    /** Gives a peer all rights. */
    private static final RegionRights EVERYTHING =
            new RegionRights(null, new PeerIdentity(EngineId.random(), null, null, null, List.of()));

    private static final OpenTransport TRANSPORT = new OpenTransport(
            "tcp", 0, new TcpTransportProvider().open(EngineOptions.builder().build()));

    private static final ConnectionPath PATH = new ConnectionPath() {
        @Override
        public String transport() {
            return TRANSPORT.name();
        }

        @Override
        public Set<MemoryKind> memory() {
            return TRANSPORT.transport().memory().register();
        }

        @Override
        public int lanes(PathState state) {
            return 0;
        }

        @Override
        public String reason() {
            return "there is no other";
        }
    };

    private static final class NobodyCares implements FramedSocket.Handler {
        @Override
        public void message(int type, ByteBuffer body) {}

        @Override
        public void broken(String reason, Throwable cause) {}
    }

    private static Connection connection() {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) ->
                        method.getName().equals("detach") ? CompletableFuture.completedFuture(null) : null);
    }

    private static byte[] attach(RegionDescriptor... descriptors) {
        ByteBuffer body = ByteBuffer.allocate(1 + 8 + descriptors.length * RegionDescriptor.BYTES);
        body.put((byte) 0).putLong(7);
        for (RegionDescriptor descriptor : descriptors) {
            body.put(descriptor.toBytes());
        }
        return body.array();
    }

    private static byte[] answer(int count, int status, int keyBytes) {
        ByteBuffer body = ByteBuffer.allocate(1 + 8 + count * (11 + keyBytes));
        body.put((byte) 3).putLong(0);
        for (int i = 0; i < count; i++) {
            body.put((byte) status).putLong(i).putShort((short) keyBytes).put(new byte[keyBytes]);
        }
        return body.array();
    }

    private static byte[] answerOverPaths(int count, String device, int... paths) {
        byte[] text = device.getBytes(StandardCharsets.UTF_8);
        ByteBuffer body = ByteBuffer.allocate(1 + 8 + count * (9 + 1 + text.length + 1 + paths.length * (3 + 26)));
        body.put((byte) 3).putLong(0);
        for (int i = 0; i < count; i++) {
            body.put((byte) 0).putLong(i).put((byte) text.length).put(text).put((byte) paths.length);
            for (int path : paths) {
                body.put((byte) path).putShort((short) 26).put(new byte[26]);
            }
        }
        return body.array();
    }

    /** The answer of a peer of this version to an attach, which may have several paths. */
    @Test
    void answersOverPaths() {
        RegionDescriptor descriptor = region.descriptor();
        RegionAttachments endpoint = new RegionAttachments() {};
        Connection connection = connection();
        ParserFuzz.of("attach-answers-over-paths")
                .valid(
                        attach(descriptor),
                        answerOverPaths(ASKED, "", 0),
                        answerOverPaths(ASKED, "GPU-8c7a1d2e", 0, 1),
                        answerOverPaths(ASKED, "", 1),
                        answerOverPaths(ASKED, ""))
                .refusesBy(ProtocolException.class)
                .allocating(256)
                .run(input -> give(input, descriptor, endpoint, connection, true));
    }

    @Test
    void questionsAndAnswers() {
        RegionDescriptor descriptor = region.descriptor();
        RegionAttachments endpoint = new RegionAttachments() {};
        Connection connection = connection();
        ParserFuzz.of("control-messages")
                .valid(
                        attach(descriptor),
                        attach(descriptor, region.slice(1, 2).descriptor()),
                        ByteBuffer.allocate(17)
                                .put((byte) 1)
                                .putLong(1)
                                .putLong(0)
                                .array(),
                        ByteBuffer.allocate(13)
                                .put((byte) 2)
                                .putLong(1)
                                .put("name".getBytes(StandardCharsets.UTF_8))
                                .array(),
                        answer(ASKED, 0, 0),
                        answer(ASKED, 0, 26),
                        answer(ASKED, 3, 0),
                        ByteBuffer.allocate(74)
                                .put((byte) 3)
                                .putLong(1)
                                .put((byte) 0)
                                .put(descriptor.toBytes())
                                .array())
                .refusesBy(ProtocolException.class)
                .allocating(256)
                .run(input -> give(input, descriptor, endpoint, connection, false));
    }

    private void give(
            byte[] input,
            RegionDescriptor descriptor,
            RegionAttachments endpoint,
            Connection connection,
            boolean severalPaths) {
        int descriptorOfSocket = Sockets.openStream(false);
        FramedSocket control =
                new FramedSocket(new StillLoop(), descriptorOfSocket, false, false, 1 << 20, new NobodyCares());
        try {
            ExportTable exports = new ExportTable(4);
            RegionExchange exchange = new RegionExchange(
                    regions,
                    connection,
                    new AttachPaths(
                            IntStream.range(0, severalPaths ? 2 : 1)
                                    .mapToObj(path -> new AttachPath(path, TRANSPORT, endpoint, PATH))
                                    .toList(),
                            PathPolicy.inOrder(),
                            severalPaths),
                    exports,
                    control,
                    EVERYTHING,
                    new StillLoop());
            CompletableFuture<RegionDescriptor> found = new CompletableFuture<>();
            ByteBuffer body = ByteBuffer.wrap(input);
            switch (body.hasRemaining() ? body.get() & 3 : 0) {
                case 0 -> exchange.attachAsked(body.slice());
                case 1 -> exchange.detachAsked(body.slice());
                case 2 -> exchange.lookupAsked(body.slice());
                default -> {
                    CompletableFuture<List<RemoteRegion>> regions = new CompletableFuture<>();
                    exchange.attach(List.of(descriptor, descriptor), 0, regions);
                    exchange.lookup("name", 0, found);
                    try {
                        exchange.answered(body.slice());
                    } finally {
                        exchange.failAll(new ProtocolException("over"));
                        assertThat(regions).as("one answer for each question").isDone();
                        assertThat(found).isDone();
                    }
                }
            }
        } finally {
            control.close();
        }
    }
}
