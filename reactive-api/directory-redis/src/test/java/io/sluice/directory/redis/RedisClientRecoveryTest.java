package io.sluice.directory.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.contract.DirectoryRecoveryContract;
import io.sluice.directory.contract.DirectoryUnderTest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The same over a client of the application's, which has the options that the client's library chooses. */
class RedisClientRecoveryTest extends DirectoryRecoveryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return new WithClients();
    }

    private static final class WithClients extends RedisServer {
        private final List<RedisClient> clients = new CopyOnWriteArrayList<>();

        WithClients() {
            super(program());
        }

        @Override
        public Directory openAt(int through, DirectoryOptions options) {
            RedisURI address = RedisURI.create(endpoint(through));
            RedisClient client = RedisClient.create(address);
            clients.add(client);
            return RedisDirectory.over(client, address, RedisDirectory.DEFAULT_NAMESPACE, options);
        }

        @Override
        public void close() {
            clients.forEach(RedisClient::shutdown);
            super.close();
        }
    }
}
