package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How peers come to know regions. */
interface AttachingContract extends Contract {
    @Test
    default void attachedRegionSaysWhatItIs() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(4096);
            RegionDescriptor descriptor = served.descriptor();
            assertThat(descriptor.engineId()).isEqualTo(pair.target().id());
            assertThat(descriptor.epoch()).isEqualTo(pair.target().epoch());
            assertThat(descriptor.kind()).isEqualTo(served.kind());
            assertThat(descriptor.length()).isEqualTo(4096);
            RemoteRegion remote = await(pair.connection().attach(RegionDescriptor.fromBytes(descriptor.toBytes())));
            assertThat(remote.connection()).isSameAs(pair.connection());
            assertThat(remote.descriptor()).isEqualTo(descriptor);
            assertThat(remote.length()).isEqualTo(4096);
            assertThat(remote.access()).containsExactlyInAnyOrder(Access.REMOTE_READ, Access.REMOTE_WRITE);
        }
    }

    @Test
    default void mappedBytesAreThePeersOwnOrThereAreNone() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(4096);
            RemoteRegion remote = pair.attach(served);
            MemorySegment mapped = remote.mapped();
            if (!transport().mapsRegions()) {
                assertThat(mapped).isNull();
                return;
            }
            assertThat(mapped).isNotNull();
            assertThat(mapped.byteSize()).isEqualTo(4096);
            mapped.set(ValueLayout.JAVA_LONG, 64, 42);
            assertThat(served.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(42);
            await(pair.connection().detach(remote));
            until("the attachment has ended", () -> !mapped.scope().isAlive());
            assertThat(remote.mapped()).isNull();
            assertThatThrownBy(() -> mapped.get(ValueLayout.JAVA_LONG, 64)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    default void lookupFindsARegionByItsName() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion named =
                    allocate(pair.target(), 64, RegionOptions.readWrite().named("block/7 – Größe"));
            RegionDescriptor found = await(pair.connection().lookup("block/7 – Größe"));
            assertThat(found).isEqualTo(named.descriptor());
            RemoteRegion remote = await(pair.connection().attach(found));
            pair.write(filled(pair.local(64), 3), 0, remote, 0, 64).awaitSuccess();
            BytePattern.assertFilled(bytesOf(named), 3);
        }
    }

    @Test
    default void lookupOfNothing() {
        try (EnginePair pair = EnginePair.open(transport())) {
            pair.served(64);
            MemoryRegion named =
                    allocate(pair.target(), 64, RegionOptions.readOnly().named("here"));
            allocate(pair.target(), 64, RegionOptions.local().named("not for peers"));
            failure(pair.connection().lookup("there"), RegionNotFoundException.class);
            failure(pair.connection().lookup("not for peers"), RegionNotFoundException.class);
            await(named.close());
            failure(pair.connection().lookup("here"), RegionNotFoundException.class);
        }
    }

    @Test
    default void nameIsTakenUntilItsRegionIsClosed() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RegionOptions options = RegionOptions.readOnly().named("one of a kind");
            MemoryRegion first = allocate(pair.target(), 64, options);
            assertThatThrownBy(() -> allocate(pair.target(), 64, options)).isInstanceOf(RegistrationException.class);
            await(first.close());
            MemoryRegion second = allocate(pair.target(), 128, options);
            assertThat(await(pair.connection().lookup("one of a kind"))).isEqualTo(second.descriptor());
        }
    }

    @Test
    default void manySlicesAttachAtOnceAndInOrder() {
        int slices = 10_000;
        int bytes = 24;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served((long) slices * bytes);
            MemoryRegion source = filled(pair.local(served.length()), 11);
            List<RegionDescriptor> descriptors = new ArrayList<>();
            for (int i = 0; i < slices; i++) {
                descriptors.add(served.slice((long) i * bytes, bytes).descriptor());
            }
            List<RemoteRegion> remotes = await(pair.connection().attach(descriptors));
            assertThat(remotes.stream().map(RemoteRegion::descriptor)).containsExactlyElementsOf(descriptors);
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < slices; i++) {
                signals.add(pair.write(source, (long) i * bytes, remotes.get(i), 0, bytes));
            }
            TerminalSignal.awaitAllSuccess(signals);
            BytePattern.assertFilled(bytesOf(served), 11);
        }
    }

    @Test
    default void oneBadDescriptorAmongManyFailsThemAll() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RegionDescriptor good = pair.served(64).descriptor();
            RegionDescriptor forged = new RegionDescriptor(
                    good.engineId(),
                    good.epoch(),
                    good.regionId(),
                    good.key() + 1,
                    good.kind(),
                    good.access(),
                    good.offset(),
                    good.length());
            failure(pair.connection().attach(List.of(good, forged, good)), InvalidDescriptorException.class);
            assertThat(await(pair.connection().attach(List.of(good, good)))).hasSize(2);
            assertThat(await(pair.connection().attach(List.of()))).isEmpty();
        }
    }

    @Test
    default void detachedRegionIsOutOfReachAndOthersAreNot() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            MemoryRegion source = filled(pair.local(64), 1);
            RemoteRegion first = pair.attach(served);
            RemoteRegion second = pair.attach(served);
            await(pair.connection().detach(first));
            // Whether the initiator or the target refuses is open; that no byte moves is not.
            assertThatThrownBy(() -> pair.write(source, 0, first, 0, 64).await().ifPresent(error -> {
                        throw error;
                    }))
                    .isInstanceOf(RemoteAccessException.class);
            BytePattern.assertAll(bytesOf(served), (byte) 0, "after the refused write");
            pair.write(source, 0, second, 0, 64).awaitSuccess();
            BytePattern.assertFilled(bytesOf(served), 1);
        }
    }

    @Test
    default void attachingAndDetachingForEverDoesNotUseUpTheLimit() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.maxAttachedRegions(16))) {
            MemoryRegion served = pair.served(64);
            for (int round = 0; round < 200; round++) {
                await(pair.connection().detach(pair.attach(served)));
            }
            pair.write(pair.local(64), 0, pair.attach(served), 0, 64).awaitSuccess();
        }
    }

    @Test
    default void attachingBeyondTheLimitIsRefused() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.maxAttachedRegions(16))) {
            MemoryRegion served = pair.served(64);
            List<RemoteRegion> attached = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                attached.add(pair.attach(served));
            }
            assertThatThrownBy(() -> pair.attach(served)).isInstanceOf(SluiceException.class);
            pair.write(pair.local(64), 0, attached.getLast(), 0, 64).awaitSuccess();
        }
    }
}
