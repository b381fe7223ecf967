package io.sluice.directory.redis;

import io.sluice.directory.contract.DirectoryContract;
import io.sluice.directory.contract.DirectoryUnderTest;

/** The contract in a real Redis, of Debian's package {@code redis-server}. */
class RedisDirectoryTest extends DirectoryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return RedisServer.start();
    }
}
