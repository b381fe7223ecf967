package io.sluice.directory.etcd;

import static org.junit.jupiter.api.Assumptions.abort;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.GetOption;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.contract.ContractPublisher;
import io.sluice.directory.contract.DirectoryUnderTest;
import io.sluice.directory.contract.PublisherProcess;
import io.sluice.directory.contract.ServerProcess;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/** A real etcd, of Debian's package {@code etcd-server}. */
final class EtcdServer implements DirectoryUnderTest {
    private final Path folder;
    private final int port = FreePort.any();
    private final String endpoint = endpoint(port);
    private final ServerProcess server;

    /** Starts one, or aborts the tests where there is none. */
    static EtcdServer start() {
        return new EtcdServer(ServerProcess.find("etcd")
                .orElseGet(
                        () -> abort("there is no etcd: install Debian's package etcd-server, or use ./sluice test")));
    }

    private EtcdServer(Path program) {
        try {
            folder = Files.createTempDirectory("sluice-etcd");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String peer = "http://127.0.0.1:" + FreePort.any();
        server = ServerProcess.start(
                folder,
                port,
                program.toString(),
                "--data-dir=" + folder.resolve("data"),
                "--listen-client-urls=" + endpoint,
                "--advertise-client-urls=" + endpoint,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=default=" + peer,
                "--unsafe-no-fsync");
    }

    @Override
    public Directory open(DirectoryOptions options) {
        return EtcdDirectory.open(List.of(endpoint), options);
    }

    @Override
    public OptionalInt port() {
        return OptionalInt.of(port);
    }

    @Override
    public Directory openAt(int through, DirectoryOptions options) {
        return EtcdDirectory.open(List.of(endpoint(through)), options);
    }

    private static String endpoint(int port) {
        return "http://127.0.0.1:" + port;
    }

    @Override
    public ContractPublisher startPublisher(String name, Duration lease) {
        return PublisherProcess.start(EtcdPublisher.class, endpoint, name, lease.toString());
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
        ServerProcess.delete(folder.resolve("data"));
        server.startAgain();
    }

    @Override
    public long storedBytes(String name) {
        ByteSequence all = ByteSequence.from(EtcdDirectory.DEFAULT_NAMESPACE, StandardCharsets.US_ASCII);
        GetOption prefix = GetOption.builder().isPrefix(true).build();
        try (Client client = Client.builder().endpoints(endpoint).build()) {
            return client
                    .getKVClient()
                    .get(all, prefix)
                    .orTimeout(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS)
                    .join()
                    .getKvs()
                    .stream()
                    .filter(found ->
                            found.getKey().toString(StandardCharsets.US_ASCII).contains(name))
                    .mapToLong(found -> found.getKey().size() + found.getValue().size())
                    .sum();
        }
    }

    @Override
    public void close() {
        server.close();
        ServerProcess.delete(folder);
    }
}
