package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest.Opcode;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The data path is plain libibverbs: a program in C that shares no code takes part. */
@Tag("verbs")
@Tag("softroce")
class PlainPeerTest {
    private static final int REGION_BYTES = 256 << 10;
    private static final int OFFER_BYTES = 7 + 38 + 9;
    private static final int KEYS_BYTES = 2 + 8 + 4;
    // the software adapter's only routable one; softRoCE's only one
    private final int gidIndex = TestDevices.areInThisProcess() ? 1 : 0;

    @TempDir
    Path folder;

    private LoneEndpoint endpoint;
    private PlainPeer peer;
    private RemoteKey remote;

    @BeforeEach
    void connect() throws IOException {
        endpoint = new LoneEndpoint(
                VerbsOptions.builder()
                        .devices(TestDevices.get(0))
                        .gidIndex(gidIndex)
                        .build(),
                REGION_BYTES);
        peer = PlainPeer.start(folder, TestDevices.get(1), gidIndex);
        byte[] peerOffer = peer.read(OFFER_BYTES);
        byte[] offer = endpoint.offer();
        // its version reads no further
        assertThat(offer).hasSize(OFFER_BYTES + 1);
        endpoint.begin(peerOffer);
        peer.write(Arrays.copyOf(offer, OFFER_BYTES));
        remote = endpoint.attach(peer.read(KEYS_BYTES), REGION_BYTES);
        peer.write(endpoint.keys());
        peer.write(LoneEndpoint.HANDLE);
        peer.write(WordRegion.KEY);
        peer.write(WordRegion.EPOCH);
    }

    @AfterEach
    void close() {
        try {
            if (peer != null) {
                peer.close();
            }
        } finally {
            if (endpoint != null) {
                endpoint.close();
            }
        }
    }

    /** The plain peer has no control channel, and nothing breaks. */
    private void assertUndisturbed() {
        assertThat(endpoint.failures()).isEmpty();
        assertThat(endpoint.sent()).isEmpty();
        assertThat(endpoint.refusals()).isZero();
    }

    /** The byte that the C peer writes at a place. */
    private static byte pattern(long seed, long at) {
        return (byte) (seed * 31 + at * 7 + (at >> 8));
    }

    private static void fill(MemorySegment segment, long seed) {
        for (long at = 0; at < segment.byteSize(); at++) {
            segment.set(ValueLayout.JAVA_BYTE, at, pattern(seed, at));
        }
    }

    private static long firstWrong(MemorySegment segment, long seed) {
        for (long at = 0; at < segment.byteSize(); at++) {
            if (segment.get(ValueLayout.JAVA_BYTE, at) != pattern(seed, at)) {
                return at;
            }
        }
        return -1;
    }

    @Test
    void transfersToAndFromThePlainPeer() throws IOException {
        fill(endpoint.segment(), 1);
        endpoint.transfer(Opcode.WRITE, remote);
        assertThat(peer.command('c', 1)).as("what was written to it").isEqualTo(-1);
        peer.command('f', 2);
        endpoint.transfer(Opcode.READ, remote);
        assertThat(firstWrong(endpoint.segment(), 2))
                .as("what was read from it")
                .isEqualTo(-1);
        peer.end();
        assertUndisturbed();
    }

    @Test
    void transfersByThePlainPeer() throws Exception {
        assertThat(peer.command('W', 3)).isZero();
        assertThat(endpoint.nextNotification()).isEqualTo("written".getBytes(StandardCharsets.US_ASCII));
        assertThat(firstWrong(endpoint.segment(), 3)).as("what it wrote").isEqualTo(-1);
        fill(endpoint.segment(), 4);
        assertThat(peer.command('R', 4)).as("what it read").isEqualTo(-1);
        peer.end();
        assertUndisturbed();
    }

    @Test
    void messagesBothWays() throws Exception {
        for (int i = 0; i < 100; i++) {
            byte[] payload = ("number " + i).getBytes(StandardCharsets.US_ASCII);
            endpoint.sendNotification(payload);
            assertThat(peer.nextNotification()).isEqualTo(payload);
            if (i % 10 == 0) {
                assertThat(peer.command('W', i)).isZero();
                assertThat(endpoint.nextNotification()).hasSize(7);
            }
        }
        peer.end();
        assertUndisturbed();
    }

    @Test
    void signalsAndAtomicOperationsByMessage() throws IOException {
        assertThat(peer.command('S', 5)).isZero();
        Patience.until(
                "the signal of its write is carried out",
                () -> endpoint.region().word(0) == 5);
        assertThat(peer.command('A', 7)).isEqualTo(5);
        assertThat(peer.command('A', 1)).isEqualTo(12);
        assertThat(endpoint.region().word(0)).isEqualTo(13);
        peer.end();
        assertUndisturbed();
    }
}
