package io.sluice.directory.vertx;

import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.contract.ContractPublisher;
import io.sluice.directory.contract.DirectoryContract;
import io.sluice.directory.contract.DirectoryUnderTest;
import io.sluice.directory.contract.PublisherProcess;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.shareddata.AsyncMap;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;

/** The contract in a cluster of Vert.x instances: two here, and one in the process of each engine that publishes itself. */
@Tag("variant")
class VertxDirectoryTest extends DirectoryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return new Cluster(false);
    }

    /**
     * Two members, each of which holds a part of the data. The second one is in a process of its own, where it must be frozen: a
     * process of Hazelcast takes several seconds of a processor to start.
     */
    static final class Cluster implements DirectoryUnderTest {
        private final int port = FreePort.any();
        private final Member here;
        private final @Nullable PublisherProcess process;
        private final AutoCloseable there;

        Cluster(boolean inOwnProcess) {
            try {
                here = Member.join(port, true);
                process = inOwnProcess
                        ? PublisherProcess.start(VertxPublisher.class, Integer.toString(port), "member", "PT10M")
                        : null;
                there = process == null ? Member.join(port, false) : process;
            } catch (Exception e) {
                throw new AssertionError("the cluster has not formed", e);
            }
        }

        @Override
        public Directory open(DirectoryOptions options) {
            return VertxDirectory.over(here.vertx(), here.cluster(), options);
        }

        @Override
        public ContractPublisher startPublisher(String name, Duration lease) {
            return PublisherProcess.start(VertxPublisher.class, Integer.toString(port), name, lease.toString());
        }

        @Override
        public boolean canBeInterrupted() {
            return process != null;
        }

        @Override
        public void interrupt() {
            Objects.requireNonNull(process).signal("STOP");
        }

        @Override
        public void resume() {
            Objects.requireNonNull(process).signal("CONT");
        }

        @Override
        public boolean canBeStopped() {
            // The data are this process's own.
            return false;
        }

        @Override
        public void stop() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void startEmpty() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long storedBytes(String name) {
            return stored("engines", name) + stored("regions", name);
        }

        private long stored(String map, String name) {
            return here
                    .vertx()
                    .sharedData()
                    .<String, Buffer>getClusterWideMap(VertxDirectory.DEFAULT_NAMESPACE + "." + map)
                    .compose(AsyncMap::entries)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .orTimeout(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS)
                    .join()
                    .entrySet()
                    .stream()
                    .filter(entry -> entry.getKey().contains(name))
                    .mapToLong(
                            entry -> entry.getKey().length() + entry.getValue().length())
                    .sum();
        }

        @Override
        public void close() {
            try {
                there.close();
            } catch (Exception e) {
                throw new AssertionError("the other member does not leave", e);
            } finally {
                here.close();
            }
        }
    }
}
