package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.transport.SecretSource;
import io.sluice.jni.Errno;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import io.sluice.testkit.Patience;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The other end of a lone endpoint's connection, which says and sends what the test wants. */
final class FakePeer implements AutoCloseable {
    private static final byte[] OWN_SECRET = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private final LoneEndpoint endpoint;
    private final ShmOffer theirs;
    private final ArrayDeque<Received> received = new ArrayDeque<>();
    private @Nullable Rendezvous meetingPoint;
    private @Nullable ShmPeerLink link;
    private @Nullable ControlSegment segment;

    private FakePeer(LoneEndpoint endpoint) {
        this.endpoint = endpoint;
        this.theirs = endpoint.offer();
    }

    /** A message from the link; its reader closes the descriptors. */
    record Received(byte[] bytes, int[] descriptors) {}

    /** One that has not come to the accepting endpoint's meeting point yet. */
    static FakePeer of(LoneEndpoint accepting) {
        FakePeer peer = new FakePeer(accepting);
        accepting.begin(peer.offer(""));
        return peer;
    }

    /** One that comes to the accepting endpoint, and shakes hands as is right. */
    static FakePeer metBy(LoneEndpoint accepting) {
        FakePeer peer = of(accepting);
        peer.come();
        ControlSegment.Made made = ControlSegment.make();
        peer.segment = made.segment();
        peer.hello(peer.theirs.secret(), made.descriptor());
        Sockets.close(made.descriptor());
        assertThat(peer.next().bytes()[0]).isEqualTo(ShmMessage.WELCOME);
        assertThat(made.segment().answered())
                .isEqualTo(ByteBuffer.wrap(OWN_SECRET).getLong());
        return peer;
    }

    /** One that waits for the initiating endpoint, which comes. */
    static FakePeer awaiting(LoneEndpoint initiating) {
        FakePeer peer = new FakePeer(initiating);
        Rendezvous point = Rendezvous.open(null, new SecretSource().draw());
        peer.meetingPoint = point;
        initiating.begin(peer.offer(point.name()));
        Patience.until("the endpoint comes", () -> {
            int socket = LocalSockets.accept(point.descriptors()[0]);
            if (socket >= 0) {
                peer.link = new ShmPeerLink(socket);
            }
            return socket != -Errno.EAGAIN;
        });
        return peer;
    }

    /** An offer of its own that fits that of the endpoint. */
    ShmOffer offer(String name) {
        return new ShmOffer(theirs.host(), name, OWN_SECRET, 0, new byte[ShmOffer.PROBE_BYTES]);
    }

    ShmOffer theirs() {
        return theirs;
    }

    LoneEndpoint endpoint() {
        return endpoint;
    }

    void come() {
        link = new ShmPeerLink(Rendezvous.connect(theirs.meetingPoint(), true, null));
    }

    ShmPeerLink link() {
        ShmPeerLink open = link;
        assertThat(open).isNotNull();
        return open;
    }

    ControlSegment segment() {
        ControlSegment mapped = segment;
        assertThat(mapped).isNotNull();
        return mapped;
    }

    void hello(byte[] secret, int... descriptors) {
        send(
                ByteBuffer.allocate(1 + secret.length)
                        .put(ShmMessage.HELLO)
                        .put(secret)
                        .array(),
                descriptors);
    }

    boolean send(byte[] bytes, int... descriptors) {
        return link().send(ByteBuffer.wrap(bytes), descriptors);
    }

    /** Says which of the wanted files come, and sends descriptors. */
    void files(long[] handles, int[] descriptors) {
        ByteBuffer message =
                ByteBuffer.allocate(1 + handles.length * (Long.BYTES + 1)).put(ShmMessage.FILES);
        Arrays.stream(handles).forEach(handle -> message.putLong(handle).put((byte) 1));
        send(message.array(), descriptors);
    }

    /** The next message over the link. */
    Received next() {
        Patience.until("a message of the endpoint", () -> {
            link().receive((bytes, descriptors) -> received.add(new Received(bytes.array(), descriptors)));
            return !received.isEmpty();
        });
        return received.remove();
    }

    void assertLinkEnds() {
        Patience.until(
                "the endpoint closes its end",
                () -> !link().receive((bytes, descriptors) -> ShmPeerLink.closeAll(descriptors)));
    }

    @Override
    public void close() {
        received.forEach(message -> ShmPeerLink.closeAll(message.descriptors()));
        if (link != null) {
            link.close();
        }
        if (meetingPoint != null) {
            meetingPoint.close();
        }
        if (segment != null) {
            segment.close();
        }
    }
}
