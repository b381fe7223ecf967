package io.sluice.directory.redis;

import static org.junit.jupiter.api.Assumptions.abort;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.contract.ContractPublisher;
import io.sluice.directory.contract.DirectoryUnderTest;
import io.sluice.directory.contract.PublisherProcess;
import io.sluice.directory.contract.ServerProcess;
import io.sluice.testkit.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalInt;

/** A real Redis, of Debian's package {@code redis-server}. */
class RedisServer implements DirectoryUnderTest {
    private final Path folder;
    private final int port = FreePort.any();
    private final String endpoint = endpoint(port);
    private final ServerProcess server;

    /** Starts one, or aborts the tests where there is none. */
    static RedisServer start() {
        return new RedisServer(program());
    }

    static Path program() {
        return ServerProcess.find("redis-server")
                .orElseGet(() ->
                        abort("there is no redis-server: install Debian's package redis-server, or use ./sluice test"));
    }

    RedisServer(Path program) {
        try {
            folder = Files.createTempDirectory("sluice-redis");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server = ServerProcess.start(
                folder,
                port,
                program.toString(),
                "--bind",
                "127.0.0.1",
                "--port",
                Integer.toString(port),
                "--save",
                "",
                "--appendonly",
                "no");
    }

    @Override
    public Directory open(DirectoryOptions options) {
        return RedisDirectory.open(endpoint, options);
    }

    @Override
    public OptionalInt port() {
        return OptionalInt.of(port);
    }

    @Override
    public Directory openAt(int through, DirectoryOptions options) {
        return RedisDirectory.open(endpoint(through), options);
    }

    static String endpoint(int port) {
        return "redis://127.0.0.1:" + port;
    }

    @Override
    public ContractPublisher startPublisher(String name, Duration lease) {
        return PublisherProcess.start(RedisPublisher.class, endpoint, name, lease.toString());
    }

    @Override
    public boolean canBeInterrupted() {
        return true;
    }

    @Override
    public void interrupt() {
        server.freeze();
    }

    @Override
    public void resume() {
        server.thaw();
    }

    @Override
    public boolean canBeStopped() {
        return true;
    }

    @Override
    public void stop() {
        server.stop();
    }

    @Override
    public void startEmpty() {
        // It keeps nothing on its disk.
        server.startAgain();
    }

    @Override
    public long storedBytes(String name) {
        try (RedisClient client = RedisClient.create(endpoint);
                StatefulRedisConnection<String, String> connection = client.connect()) {
            RedisCommands<String, String> redis = connection.sync();
            return redis.keys("*" + name + "*").stream()
                    .mapToLong(key -> key.length() + redis.strlen(key))
                    .sum();
        }
    }

    @Override
    public void close() {
        server.close();
        ServerProcess.delete(folder);
    }
}
