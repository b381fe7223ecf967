package io.sluice.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Access;
import io.sluice.engine.EngineId;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DescriptorKeysTest {
    private static final EngineId ENGINE = new EngineId(1, 2);
    private static final long EPOCH = 3;

    private final DescriptorKeys keys = new DescriptorKeys(ENGINE, EPOCH);
    private final RegionDescriptor genuine = keys.issue(10, MemoryKind.HOST, Set.of(Access.REMOTE_READ), 1000, 500);

    @Test
    void whatWasIssuedIsGenuineAlsoAfterItsWayOverTheWire() {
        assertThat(keys.isGenuine(genuine)).isTrue();
        assertThat(keys.isGenuine(RegionDescriptor.fromBytes(genuine.toBytes())))
                .isTrue();
        assertThat(genuine.engineId()).isEqualTo(ENGINE);
        assertThat(genuine.epoch()).isEqualTo(EPOCH);
    }

    @Test
    void sameGrantGivesTheSameDescriptor() {
        assertThat(keys.issue(10, MemoryKind.HOST, Set.of(Access.REMOTE_READ), 1000, 500))
                .isEqualTo(genuine);
    }

    /** The session checks separately that engine and epoch are this engine's. */
    @Test
    void anySingleFieldOfTheGrantChanged() {
        for (RegionDescriptor forged : List.of(
                Forgery.of(genuine).regionId(11).make(),
                Forgery.of(genuine).regionId(-10).make(),
                Forgery.of(genuine).access(Set.of(Access.REMOTE_WRITE)).make(),
                Forgery.of(genuine)
                        .access(Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE))
                        .make(),
                Forgery.of(genuine).access(Set.of()).make(),
                Forgery.of(genuine).offset(999).make(),
                Forgery.of(genuine).offset(1001).make(),
                Forgery.of(genuine).offset(0).make(),
                Forgery.of(genuine).length(499).make(),
                Forgery.of(genuine).length(501).make(),
                Forgery.of(genuine).length(0).make(),
                Forgery.of(genuine).length(Long.MAX_VALUE - 1000).make(),
                Forgery.of(genuine).offset(500).length(1000).make(),
                Forgery.of(genuine).key(0).make())) {
            assertThat(keys.isGenuine(forged)).as(forged.toString()).isFalse();
        }
    }

    @Test
    void anySingleBitOfAnyFieldChanged() {
        for (int bit = 0; bit < Long.SIZE; bit++) {
            long flip = 1L << bit;
            assertThat(keys.isGenuine(
                            Forgery.of(genuine).key(genuine.key() ^ flip).make()))
                    .isFalse();
            assertThat(keys.isGenuine(Forgery.of(genuine)
                            .regionId(genuine.regionId() ^ flip)
                            .make()))
                    .isFalse();
            // A descriptor with a range that is none cannot even be made.
            if (bit < Long.SIZE - 2) {
                assertThat(keys.isGenuine(Forgery.of(genuine)
                                .offset(genuine.offset() ^ flip)
                                .make()))
                        .isFalse();
                assertThat(keys.isGenuine(Forgery.of(genuine)
                                .length(genuine.length() ^ flip)
                                .make()))
                        .isFalse();
            }
        }
    }

    @Test
    void anotherEnginesOrAnotherRunsKeysDoNotCount() {
        assertThat(new DescriptorKeys(ENGINE, EPOCH).isGenuine(genuine)).isFalse();
        assertThat(new DescriptorKeys(ENGINE, EPOCH + 1).isGenuine(genuine)).isFalse();
    }

    @Test
    void keysOfDifferentGrantsDiffer() {
        Random random = new Random(1);
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            RegionDescriptor issued = keys.issue(
                    i, MemoryKind.HOST, Set.of(Access.REMOTE_READ), random.nextInt(1000), random.nextInt(1000));
            assertThat(seen.add(issued.key())).isTrue();
        }
    }

    @Test
    void textOfADescriptorDoesNotGiveItsKeyAway() {
        assertThat(genuine.toString())
                .doesNotContain(Long.toString(genuine.key()))
                .doesNotContain(Long.toHexString(genuine.key()));
    }

    /** Counts what this thread makes of it, and has the platform make it. */
    private static final class CountingMacs extends Provider {
        private static final String ALGORITHM = "HmacSHA256";

        private final AtomicInteger made = new AtomicInteger();

        CountingMacs() {
            super("CountingMacs", "1", "counts MACs");
            Provider.Service real = Security.getProvider("SunJCE").getService("Mac", ALGORITHM);
            Thread counted = Thread.currentThread();
            putService(new Service(this, "Mac", ALGORITHM, real.getClassName(), null, null) {
                @Override
                public Object newInstance(Object parameter) throws NoSuchAlgorithmException {
                    if (Thread.currentThread() == counted) {
                        made.incrementAndGet();
                    }
                    return real.newInstance(parameter);
                }
            });
        }
    }

    /** A peer may have a thousand descriptors looked at with one message. */
    @Test
    void macIsMadeOnceAndNotForEachDescriptor() {
        CountingMacs macs = new CountingMacs();
        Security.insertProviderAt(macs, 1);
        try {
            DescriptorKeys counted = new DescriptorKeys(ENGINE, EPOCH);
            for (int i = 0; i < 100; i++) {
                RegionDescriptor issued = counted.issue(i, MemoryKind.HOST, Set.of(Access.REMOTE_READ), 0, 64);
                assertThat(counted.isGenuine(issued)).isTrue();
                assertThat(counted.isGenuine(genuine)).isFalse();
            }
            assertThat(macs.made).hasValue(1);
        } finally {
            Security.removeProvider(macs.getName());
        }
    }
}
