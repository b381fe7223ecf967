package io.sluice.directory.etcd;

import io.sluice.directory.contract.PublisherProgram;
import java.io.IOException;
import java.util.List;

/** Publishes one engine: endpoint, name, lease. */
final class EtcdPublisher {
    private EtcdPublisher() {}

    public static void main(String[] arguments) throws IOException {
        PublisherProgram.run(
                EtcdDirectory.open(List.of(arguments[0]), PublisherProgram.options(arguments[2])), arguments[1]);
    }
}
