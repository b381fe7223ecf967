package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PeerAuthorizer;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.FreePort;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A descriptor opens exactly what its owner gave it for, and nothing once that is over. */
interface DescriptorContract extends Contract {
    /** Parts of a descriptor, to be changed one by one. */
    record Forgery(
            EngineId engineId, long epoch, long regionId, long key, Set<Access> access, long offset, long length) {
        static Forgery of(RegionDescriptor genuine) {
            return new Forgery(
                    genuine.engineId(),
                    genuine.epoch(),
                    genuine.regionId(),
                    genuine.key(),
                    genuine.access(),
                    genuine.offset(),
                    genuine.length());
        }

        Forgery engineId(EngineId changed) {
            return new Forgery(changed, epoch, regionId, key, access, offset, length);
        }

        Forgery epoch(long changed) {
            return new Forgery(engineId, changed, regionId, key, access, offset, length);
        }

        Forgery regionId(long changed) {
            return new Forgery(engineId, epoch, changed, key, access, offset, length);
        }

        Forgery key(long changed) {
            return new Forgery(engineId, epoch, regionId, changed, access, offset, length);
        }

        Forgery access(Set<Access> changed) {
            return new Forgery(engineId, epoch, regionId, key, changed, offset, length);
        }

        Forgery range(long changedOffset, long changedLength) {
            return new Forgery(engineId, epoch, regionId, key, access, changedOffset, changedLength);
        }

        RegionDescriptor made(RegionDescriptor like) {
            return new RegionDescriptor(engineId, epoch, regionId, key, like.kind(), access, offset, length);
        }
    }

    @Test
    default void forgedDescriptorsAreRefused() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion region = pair.served(64 << 10);
            MemoryRegion other = pair.served(64 << 10);
            RegionDescriptor genuine = region.slice(4096, 4096).descriptor(Set.of(Access.REMOTE_READ));
            Forgery forgery = Forgery.of(genuine);
            assertInvalid(pair, forgery.key(genuine.key() ^ 1), genuine);
            assertInvalid(pair, forgery.key(0), genuine);
            assertInvalid(pair, forgery.key(other.descriptor().key()), genuine);
            assertInvalid(pair, forgery.access(Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE)), genuine);
            assertInvalid(pair, forgery.access(Set.of(Access.REMOTE_WRITE)), genuine);
            assertInvalid(pair, forgery.access(Set.of()), genuine);
            assertInvalid(pair, forgery.range(4096, 4097), genuine);
            assertInvalid(pair, forgery.range(4095, 4096), genuine);
            assertInvalid(pair, forgery.range(4097, 4096), genuine);
            // Even a narrower one: the owner gave no such thing.
            assertInvalid(pair, forgery.range(4096, 4095), genuine);
            assertInvalid(pair, forgery.range(0, 64 << 10), genuine);
            assertInvalid(pair, forgery.range(4096, Long.MAX_VALUE - 4096), genuine);
            assertInvalid(pair, forgery.range(Long.MAX_VALUE - 1, 1), genuine);
            assertInvalid(pair, forgery.regionId(other.descriptor().regionId()), genuine);
            assertInvalid(pair, forgery.engineId(EngineId.random()), genuine);
            assertInvalid(pair, forgery.engineId(pair.initiator().id()), genuine);
            assertRefused(pair, forgery.regionId(other.descriptor().regionId() + 1_000_000), genuine);
            assertRefused(pair, forgery.regionId(-1), genuine);
            assertThat(await(pair.connection().attach(genuine)).length()).isEqualTo(4096);
        }
    }

    private static void assertInvalid(EnginePair pair, Forgery forgery, RegionDescriptor genuine) {
        failure(pair.connection().attach(forgery.made(genuine)), InvalidDescriptorException.class);
    }

    /** A region that never was may look forged or stale. */
    private static void assertRefused(EnginePair pair, Forgery forgery, RegionDescriptor genuine) {
        assertThat(failure(pair.connection().attach(forgery.made(genuine)), SluiceException.class))
                .isInstanceOfAny(InvalidDescriptorException.class, StaleDescriptorException.class);
    }

    @Test
    default void randomForgeriesAreRefused() {
        Random random = ContractProfile.random("randomForgeriesAreRefused");
        try (EnginePair pair = EnginePair.open(transport())) {
            RegionDescriptor genuine = pair.served(64 << 10).descriptor();
            for (int i = 0; i < 300; i++) {
                Forgery forgery = Forgery.of(genuine).key(random.nextLong());
                if (random.nextBoolean()) {
                    forgery = forgery.regionId(random.nextLong());
                }
                if (random.nextBoolean()) {
                    forgery = forgery.epoch(random.nextLong());
                }
                if (random.nextBoolean()) {
                    forgery = forgery.range(random.nextLong() >>> 2, random.nextLong() >>> 2);
                }
                assertRefused(pair, forgery, genuine);
            }
            assertThat(await(pair.connection().attach(genuine)).length()).isEqualTo(64 << 10);
        }
    }

    @Test
    default void damagedDescriptorIsNotEvenRead() {
        try (EnginePair pair = EnginePair.open(transport())) {
            byte[] bytes = pair.served(64).descriptor().toBytes();
            for (int at = 0; at < bytes.length; at++) {
                byte[] damaged = bytes.clone();
                damaged[at] ^= 0x10;
                assertThatThrownBy(() -> RegionDescriptor.fromBytes(damaged))
                        .isInstanceOf(InvalidDescriptorException.class);
            }
        }
    }

    @Test
    default void descriptorOfAnEarlierRunIsStale() {
        try (EnginePair pair = EnginePair.open(transport())) {
            RegionDescriptor genuine = pair.served(64).descriptor();
            failure(
                    pair.connection()
                            .attach(Forgery.of(genuine)
                                    .epoch(genuine.epoch() ^ 1)
                                    .made(genuine)),
                    StaleDescriptorException.class);
        }
    }

    @Test
    default void descriptorOfAClosedRegionIsStale() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion region = pair.served(64);
            RegionDescriptor whole = region.descriptor();
            RegionDescriptor slice = region.slice(8, 8).descriptor();
            await(region.close());
            pair.served(64);
            failure(pair.connection().attach(whole), StaleDescriptorException.class);
            failure(pair.connection().attach(slice), StaleDescriptorException.class);
        }
    }

    @Test
    default void engineRestartedOnTheSamePortKnowsNoOldDescriptor() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            EngineOptions options =
                    transport().options().listen("127.0.0.1", FreePort.any()).build();
            EngineAddress address;
            RegionDescriptor old;
            try (TransferEngine first = TransferEngine.open(options)) {
                address = first.address();
                old = allocate(first, 64, RegionOptions.readWrite()).descriptor();
                Connection connection = await(engine.connection(EngineAddress.of(address.host(), address.port())));
                await(connection.attach(old));
            }
            try (TransferEngine second = TransferEngine.open(options)) {
                assertThat(second.address().port()).isEqualTo(address.port());
                MemoryRegion region = allocate(second, 64, RegionOptions.readWrite());
                Connection connection = await(engine.connect(EngineAddress.of(address.host(), address.port())));
                assertThat(failure(connection.attach(old), SluiceException.class))
                        .isInstanceOfAny(StaleDescriptorException.class, InvalidDescriptorException.class);
                assertThat(await(connection.attach(region.descriptor())).length())
                        .isEqualTo(64);
            }
        }
    }

    /** A transport may let the peer's processor reach the memory: it must not learn how once nothing keeps it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    default void regionThatClosesWhileItsAttachIsAuthorizedIsRefused(boolean attachedBefore) {
        AtomicReference<MemoryRegion> closing = new AtomicReference<>();
        PeerAuthorizer authorizer = new PeerAuthorizer() {
            @Override
            public boolean mayConnect(PeerIdentity peer) {
                return true;
            }

            @Override
            public Set<Access> access(PeerIdentity peer, String region) {
                MemoryRegion now = closing.get();
                if (now != null) {
                    now.close();
                }
                return EnumSet.allOf(Access.class);
            }
        };
        try (EnginePair pair = EnginePair.open(transport(), initiator -> {}, target -> target.authorizer(authorizer));
                OwnMemory own = ownMemory(4096, 4096)) {
            // from the engine, and the caller's own memory: a transport reaches them in different ways
            for (MemoryRegion region :
                    List.of(pair.served(4096), own.register(pair.target(), RegionOptions.readWrite()))) {
                closing.set(null);
                RegionDescriptor descriptor = region.descriptor();
                if (attachedBefore) {
                    await(pair.connection().attach(descriptor));
                }
                closing.set(region);
                failure(pair.connection().attach(descriptor), StaleDescriptorException.class);
                await(region.close());
            }
            closing.set(null);
            pair.write(pair.local(64), 0, pair.attach(pair.served(64)), 0, 64).awaitSuccess();
        }
    }

    @Test
    default void descriptorGivesTheRightsItWasMadeFor() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            MemoryRegion region = filled(pair.served(64), 6);
            RemoteRegion readable = await(pair.connection().attach(region.descriptor(Set.of(Access.REMOTE_READ))));
            RemoteRegion writable = await(pair.connection().attach(region.descriptor(Set.of(Access.REMOTE_WRITE))));
            assertThat(readable.access()).containsExactly(Access.REMOTE_READ);
            assertThat(writable.access()).containsExactly(Access.REMOTE_WRITE);
            assertDenied(pair, true, local, readable);
            assertDenied(pair, false, local, writable);
            BytePattern.assertFilled(bytesOf(region), 6);
            pair.read(local, 0, readable, 0, 64).awaitSuccess();
            BytePattern.assertFilled(bytesOf(local), 6);
            bytesOf(local).fill((byte) 1);
            pair.write(local, 0, writable, 0, 64).awaitSuccess();
            BytePattern.assertAll(bytesOf(region), (byte) 1, "the region");
        }
    }

    @Test
    default void regionGivesNoRightsThatItDoesNotHave() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            MemoryRegion readOnly = filled(allocate(pair.target(), 64, RegionOptions.readOnly()), 7);
            MemoryRegion writeOnly = allocate(pair.target(), 64, new RegionOptions(Set.of(Access.REMOTE_WRITE), null));
            MemoryRegion unreachable = allocate(pair.target(), 64, RegionOptions.local());
            assertThatThrownBy(unreachable::descriptor).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> unreachable.slice(0, 8).descriptor()).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> readOnly.descriptor(Set.of(Access.REMOTE_WRITE)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> readOnly.descriptor(Set.of())).isInstanceOf(IllegalArgumentException.class);
            assertDenied(pair, true, local, pair.attach(readOnly));
            assertDenied(pair, false, local, pair.attach(writeOnly));
            BytePattern.assertFilled(bytesOf(readOnly), 7);
            pair.read(local, 0, pair.attach(readOnly), 0, 64).awaitSuccess();
            pair.write(local, 0, pair.attach(writeOnly), 0, 64).awaitSuccess();
            BytePattern.assertFilled(bytesOf(writeOnly), 7);
        }
    }

    private static void assertDenied(EnginePair pair, boolean write, MemoryRegion local, RemoteRegion remote) {
        TerminalSignal never = new TerminalSignal();
        assertThatThrownBy(() -> {
                    if (write) {
                        pair.connection().write(local, 0, remote, 0, 8, TransferOptions.defaults(), never);
                    } else {
                        pair.connection().read(local, 0, remote, 0, 8, TransferOptions.defaults(), never);
                    }
                })
                .isInstanceOfSatisfying(
                        RemoteAccessException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(RemoteAccessException.Reason.ACCESS_DENIED));
        assertThat(never.count()).isZero();
    }

    @Test
    default void descriptorInALogGivesNoKeyAway() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            RegionDescriptor descriptor =
                    allocate(engine, 64, RegionOptions.readWrite()).descriptor();
            assertThat(descriptor.toString())
                    .doesNotContain(Long.toString(descriptor.key()))
                    .doesNotContain(Long.toHexString(descriptor.key()));
        }
    }
}
