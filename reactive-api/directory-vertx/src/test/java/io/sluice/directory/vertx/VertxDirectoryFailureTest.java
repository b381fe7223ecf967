package io.sluice.directory.vertx;

import io.sluice.directory.contract.DirectoryFailureContract;
import io.sluice.directory.contract.DirectoryUnderTest;
import org.junit.jupiter.api.Tag;

/** Failures of a cluster of Vert.x instances. */
@Tag("variant")
class VertxDirectoryFailureTest extends DirectoryFailureContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return new VertxDirectoryTest.Cluster(true);
    }
}
