package io.sluice.directory.redis;

import io.sluice.directory.contract.PublisherProgram;
import java.io.IOException;

/** Publishes one engine: address of the server, name, lease. */
final class RedisPublisher {
    private RedisPublisher() {}

    public static void main(String[] arguments) throws IOException {
        PublisherProgram.run(RedisDirectory.open(arguments[0], PublisherProgram.options(arguments[2])), arguments[1]);
    }
}
