package io.sluice.directory.redis;

import io.sluice.directory.contract.DirectoryContract;
import io.sluice.directory.contract.DirectoryUnderTest;
import org.junit.jupiter.api.Tag;

/** The contract in a real Redis, of Debian's package {@code redis-server}. */
@Tag("variant")
class RedisDirectoryTest extends DirectoryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return RedisServer.start();
    }
}
