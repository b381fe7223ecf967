package io.sluice.directory.contract;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.store.InProcessStore;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** The embedded directory; and, since its store can be cut off at will, what all directories share. */
class InProcessDirectoryTest extends DirectoryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return new InProcess();
    }

    static final class InProcess implements DirectoryUnderTest {
        private final AtomicReference<InProcessStore> backing = new AtomicReference<>(new InProcessStore());
        private volatile boolean isSevered;

        @Override
        public Directory open(DirectoryOptions options) {
            return Directory.over(new SeverableStore(backing, () -> isSevered), options);
        }

        @Override
        public ContractPublisher startPublisher(String name, Duration lease) {
            return new InProcessPublisher(backing, name, lease);
        }

        @Override
        public boolean canBeInterrupted() {
            return true;
        }

        @Override
        public void interrupt() {
            isSevered = true;
        }

        @Override
        public void resume() {
            isSevered = false;
        }

        @Override
        public boolean canBeStopped() {
            return true;
        }

        @Override
        public void stop() {
            isSevered = true;
            backing.set(new InProcessStore());
        }

        @Override
        public void startEmpty() {
            isSevered = false;
        }

        @Override
        public long storedBytes(String name) {
            return SeverableStore.bytesPut(name);
        }

        @Override
        public void close() {
            // Nothing but memory.
        }
    }

    /** To kill it is to cut it off and to close its engine. */
    private static final class InProcessPublisher implements ContractPublisher {
        private final AtomicBoolean isDead = new AtomicBoolean();
        private final TransferEngine engine = TransferEngine.open();

        InProcessPublisher(AtomicReference<InProcessStore> backing, String name, Duration lease) {
            engine.allocate(REGION_BYTES, RegionOptions.readWrite().named(REGION));
            Directory.over(new SeverableStore(backing, isDead::get), PublisherProgram.options(lease))
                    .publish(Advertisement.of(name, engine))
                    .block(Patience.BOUND);
        }

        @Override
        public EngineAddress address() {
            return engine.address();
        }

        @Override
        public long epoch() {
            return engine.epoch();
        }

        @Override
        public void kill() {
            isDead.set(true);
            engine.close();
        }

        @Override
        public void close() {
            kill();
        }
    }
}
