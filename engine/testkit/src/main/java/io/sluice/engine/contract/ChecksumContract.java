package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Either side can ask for the checksum of what lies at the other. */
interface ChecksumContract extends Contract {
    /** More than is summed in one duty cycle, and no multiple of it. */
    int LONG_RANGE = (5 << 20) + 3;

    private void fill(MemoryRegion region, long seed) {
        byte[] bytes = new byte[Math.toIntExact(region.length())];
        new Random(seed).nextBytes(bytes);
        bytesOf(region).write(0, MemorySegment.ofArray(bytes));
    }

    @Test
    default void checkValueOfTheStandard() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion region = pair.served(16);
            bytesOf(region).write(3, MemorySegment.ofArray("123456789".getBytes(StandardCharsets.US_ASCII)));
            assertThat(region.checksum(3, 9)).isEqualTo(0xE3069283L);
            assertThat(region.slice(3, 9).checksum(0, 9)).isEqualTo(0xE3069283L);
            assertThat(region.checksum(5, 0)).isZero();
            assertThat(await(pair.connection().checksum(pair.attach(region), 3, 9)))
                    .isEqualTo(0xE3069283L);
        }
    }

    @Test
    default void checksumIsTheSameOnBothSidesOfAWrite() {
        for (Ends ends : Ends.values()) {
            try (EnginePair pair = ends.open(transport())) {
                MemoryRegion local = pair.local(LONG_RANGE);
                fill(local, 1);
                RemoteRegion remote = pair.attach(pair.served(LONG_RANGE));
                pair.write(local, 0, remote, 0, LONG_RANGE).awaitSuccess();
                await(pair.connection().quiet());
                List<CompletableFuture<Long>> all = new ArrayList<>();
                int count = ContractProfile.of(transport()).manyChecksums();
                for (int i = 0; i < count; i++) {
                    all.add(pair.connection().checksum(remote, i, LONG_RANGE - 20));
                }
                for (int i = 0; i < count; i++) {
                    assertThat(await(all.get(i))).isEqualTo(local.checksum(i, LONG_RANGE - 20));
                }
                assertThat(await(pair.connection().checksum(remote, 0, 0))).isZero();
            }
        }
    }

    @Test
    default void checksumIsRefusedAsAReadWouldBe() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion region = pair.served(64);
            RemoteRegion remote = pair.attach(region);
            assertThatThrownBy(() -> pair.connection().checksum(remote, 1, 64))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> region.checksum(1, 64)).isInstanceOf(IndexOutOfBoundsException.class);
            RemoteRegion written = await(pair.connection().attach(region.descriptor(Set.of(Access.REMOTE_WRITE))));
            assertThat(failure(pair.connection().checksum(written, 0, 64), RemoteAccessException.class)
                            .reason())
                    .isEqualTo(RemoteAccessException.Reason.ACCESS_DENIED);
            long id = region.descriptor().regionId();
            await(region.close());
            failure(pair.connection().checksum(remote, 0, 64), RemoteAccessException.class);
            assertThatThrownBy(() -> region.checksum(0, 64))
                    .isInstanceOf(RegionClosedException.class)
                    .hasMessageStartingWith("region " + id);
        }
    }

    @Test
    default void everyQuestionEndsWhenTheConnectionDoes() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RemoteRegion remote = pair.attach(pair.served(LONG_RANGE));
            List<CompletableFuture<Long>> all = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                all.add(pair.connection().checksum(remote, 0, LONG_RANGE));
            }
            await(pair.connection().close());
            for (CompletableFuture<Long> each : all) {
                try {
                    await(each);
                } catch (SluiceException ended) {
                    assertThat(ended).isInstanceOf(ConnectionLostException.class);
                }
            }
            failure(pair.connection().checksum(remote, 0, 1), ConnectionLostException.class);
        }
    }

    /** The region is leased while its sum is made, and no longer. */
    @Test
    default void regionThatClosesWhileItIsSummedCloses() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion region = pair.served(64 << 20);
            RemoteRegion remote = pair.attach(region);
            CompletableFuture<Long> sum = pair.connection().checksum(remote, 0, 64 << 20);
            await(region.close());
            try {
                await(sum);
            } catch (SluiceException refused) {
                assertThat(refused).isInstanceOf(RemoteAccessException.class);
            }
        }
    }
}
