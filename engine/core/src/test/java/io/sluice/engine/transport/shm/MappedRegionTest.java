package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.RemoteRegion;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The peer's region as this process has mapped it. */
class MappedRegionTest {
    private static final long REGION = 1 << 20;

    private static MemorySegment mapped(RemoteRegion remote) {
        return Objects.requireNonNull(remote.mapped());
    }

    private static void assertEnded(MemorySegment memory) {
        Patience.until("the attachment has ended", () -> !memory.scope().isAlive());
        assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, REGION - 1))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 1))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void storesAreThePeers() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            MemorySegment memory = mapped(pair.remote());
            memory.fill((byte) 7);
            assertThat(pair.region().segment().mismatch(memory)).isEqualTo(-1);
            pair.region().segment().set(ValueLayout.JAVA_LONG, REGION - 8, 11);
            assertThat(memory.get(ValueLayout.JAVA_LONG, REGION - 8)).isEqualTo(11);
        }
    }

    @Test
    void sliceIsMappedAlone() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            RemoteRegion slice = Patience.await(
                    pair.connection().attach(pair.region().slice(4096, 100).descriptor()));
            MemorySegment memory = mapped(slice);
            assertThat(memory.byteSize()).isEqualTo(100);
            memory.set(ValueLayout.JAVA_BYTE, 99, (byte) 5);
            assertThat(pair.region().segment().get(ValueLayout.JAVA_BYTE, 4096 + 99))
                    .isEqualTo((byte) 5);
        }
    }

    @Test
    void withoutTheRightToWriteItIsReadOnly() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            RemoteRegion readable =
                    Patience.await(pair.connection().attach(pair.region().descriptor(Set.of(Access.REMOTE_READ))));
            MemorySegment memory = mapped(readable);
            assertThat(memory.isReadOnly()).isTrue();
            assertThat(mapped(pair.remote()).isReadOnly()).isFalse();
        }
    }

    @Test
    void accessEndsWithTheAttachment() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            MemorySegment memory = mapped(pair.remote());
            Patience.await(pair.connection().detach(pair.remote()));
            assertEnded(memory);
            assertThat(pair.remote().mapped()).isNull();
        }
    }

    @Test
    void accessEndsWithTheRegion() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            MemorySegment memory = mapped(pair.remote());
            Patience.await(pair.region().close());
            assertEnded(memory);
        }
    }

    @Test
    void accessEndsWithTheConnection() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            MemorySegment memory = mapped(pair.remote());
            Patience.await(pair.connection().close());
            assertEnded(memory);
        }
    }

    @Test
    void accessEndsWithTheEngineWhileAThreadStores() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            MemorySegment memory = mapped(pair.remote());
            CountDownLatch stores = new CountDownLatch(1);
            CompletableFuture<Throwable> thrown = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                try {
                    for (long i = 0; ; i = (i + 8) % REGION) {
                        memory.set(ValueLayout.JAVA_LONG, i, i);
                        stores.countDown();
                    }
                } catch (IllegalStateException ended) {
                    thrown.complete(ended);
                }
            });
            Patience.await(stores);
            Patience.await(pair.initiator().closeAsync());
            assertThat(Patience.await(thrown)).isInstanceOf(IllegalStateException.class);
        }
    }
}
