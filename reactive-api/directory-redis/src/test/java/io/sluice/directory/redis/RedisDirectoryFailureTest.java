package io.sluice.directory.redis;

import io.sluice.directory.contract.DirectoryFailureContract;
import io.sluice.directory.contract.DirectoryUnderTest;

/** Failures of a real Redis, of Debian's package {@code redis-server}, and of its clients. */
class RedisDirectoryFailureTest extends DirectoryFailureContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return RedisServer.start();
    }
}
