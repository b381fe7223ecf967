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
import java.util.concurrent.TimeUnit;

/** The contract in a cluster of Vert.x instances in two or more processes. */
class VertxDirectoryTest extends DirectoryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return new Cluster();
    }

    /** This process is a member, and so is one other, which holds a part of the data and can be frozen. */
    static final class Cluster implements DirectoryUnderTest {
        private final int port = FreePort.any();
        private final Member here;
        private final PublisherProcess there;

        Cluster() {
            try {
                here = Member.join(port, true);
            } catch (Exception e) {
                throw new AssertionError("the cluster has not formed", e);
            }
            there = PublisherProcess.start(VertxPublisher.class, Integer.toString(port), "member", "PT10M");
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
            return true;
        }

        @Override
        public void interrupt() {
            there.signal("STOP");
        }

        @Override
        public void resume() {
            there.signal("CONT");
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
            there.close();
            here.close();
        }
    }
}
