package io.sluice.directory.redis;

import io.sluice.directory.contract.DirectoryRecoveryContract;
import io.sluice.directory.contract.DirectoryUnderTest;

/** How a directory comes back to a real Redis. */
class RedisRecoveryTest extends DirectoryRecoveryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return RedisServer.start();
    }
}
