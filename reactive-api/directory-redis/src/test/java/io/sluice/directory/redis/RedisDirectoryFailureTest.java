package io.sluice.directory.redis;

import io.sluice.directory.contract.DirectoryFailureContract;
import io.sluice.directory.contract.DirectoryUnderTest;
import org.junit.jupiter.api.Tag;

/** Failures of a real Redis, of Debian's package {@code redis-server}, and of its clients. */
@Tag("variant")
class RedisDirectoryFailureTest extends DirectoryFailureContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return RedisServer.start();
    }
}
