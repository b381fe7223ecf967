package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.engine.Access;
import io.sluice.engine.AtomicDomain;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A lease for a peer that reaches memory by its address ends in every case, and not before the peer is off. */
class OwnRegionsTest {
    private static final long HANDLE = 5;
    private static final int ATTACHED = 10;

    private final MemorySegment segment = Arena.ofAuto().allocate(64);
    private final List<byte[]> sent = new ArrayList<>();
    private boolean sendFails;
    private int leases;

    private final EndpointContext context = stub(EndpointContext.class, (method, argument) -> {
        if (method.equals("send")) {
            if (sendFails) {
                throw new OutOfMemoryError("as the test wants it");
            }
            sent.add((byte[]) argument);
        }
        return null;
    });
    private final ExportedRegion region = stub(ExportedRegion.class, (method, argument) -> switch (method) {
        case "lease" -> ++leases > 0;
        case "release" -> --leases;
        case "memory" -> RegionMemory.host(segment);
        case "registration" -> new ForeignMemory(segment.address());
        case "access" -> EnumSet.allOf(Access.class);
        case "atomicDomain" -> AtomicDomain.TARGET_CPU;
        default -> null;
    });
    private final OwnRegions regions = new OwnRegions(context, ATTACHED, () -> true);

    @FunctionalInterface
    private interface Answers {
        Object to(String method, Object argument);
    }

    private static <T> T stub(Class<T> type, Answers answers) {
        Object made = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            Object answer = answers.to(method.getName(), given == null ? null : given[0]);
            return method.getReturnType() == void.class ? null : answer;
        });
        return type.cast(made);
    }

    private RegionKeys.Way attached() {
        return RegionKeys.read(ByteBuffer.wrap(regions.keysOf(HANDLE, region)), segment.byteSize())
                .way();
    }

    @Test
    void attachAfterThePeersSocketHasEndedTakesNoLease() {
        assertThat(regions.reach(region)).isTrue();
        assertThat(attached()).isEqualTo(RegionKeys.Way.CROSS_MEMORY);
        regions.peerStopped();
        assertThat(leases).isZero();
        // what the peer asked for before is heard after the end of its socket
        assertThat(regions.reach(region)).isFalse();
        regions.close();
        assertThat(leases).isZero();
        assertThat(regions.isReachableByAddress()).isFalse();
    }

    @Test
    void releaseAfterThePeersSocketHasEndedIsNoMistake() {
        attached();
        regions.ended(HANDLE);
        assertThat(sent).containsExactly(ShmMessage.of(ShmMessage.ENDED, HANDLE));
        regions.peerStopped();
        regions.released(HANDLE);
        assertThat(leases).isZero();
    }

    @Test
    void endThatCouldNotBeToldIsToldWhenItIsTriedAgain() {
        attached();
        sendFails = true;
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> regions.ended(HANDLE));
        assertThat(leases).isEqualTo(1);
        sendFails = false;
        regions.ended(HANDLE);
        assertThat(sent).containsExactly(ShmMessage.of(ShmMessage.ENDED, HANDLE));
        regions.released(HANDLE);
        assertThat(leases).isZero();
    }

    /** The table of what is attached has room again after each detachment, and would not bound them. */
    @Test
    void aPeerThatGivesNothingBackIsEnded() {
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> {
                    for (long handle = 0; handle < 100 * OwnRegions.MORE; handle++) {
                        regions.keysOf(handle, region);
                        regions.ended(handle);
                    }
                })
                .withMessageContaining("without confirming the detached ones");
        assertThat(leases).isLessThanOrEqualTo(2 * ATTACHED + OwnRegions.MORE);
        regions.peerStopped();
        assertThat(leases).isZero();
    }

    @Test
    void aPeerThatGivesBackMayAttachAgain() {
        for (long handle = 0; handle < 100 * ATTACHED; handle++) {
            assertThat(regions.keysOf(handle, region)).isNotNull();
            regions.ended(handle);
            regions.released(handle);
        }
        assertThat(leases).isZero();
    }
}
