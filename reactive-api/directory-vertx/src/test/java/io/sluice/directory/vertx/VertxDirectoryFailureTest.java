package io.sluice.directory.vertx;

import io.sluice.directory.contract.DirectoryFailureContract;
import io.sluice.directory.contract.DirectoryUnderTest;

/** Failures of a cluster of Vert.x instances. */
class VertxDirectoryFailureTest extends DirectoryFailureContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return new VertxDirectoryTest.Cluster(true);
    }
}
