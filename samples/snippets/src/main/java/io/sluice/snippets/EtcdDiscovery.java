package io.sluice.snippets;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.NamedConnections;
import io.sluice.directory.etcd.EtcdDirectory;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * Finds an engine and its region by names in etcd. The entry has a lease: it disappears with the process that made it.
 *
 * <p>Run: {@code ./sluice snippet EtcdDiscovery [http://HOST:PORT]}, with an etcd at http://127.0.0.1:2379 or there
 */
public final class EtcdDiscovery {
    private EtcdDiscovery() {}

    public static void main(String[] arguments) {
        String server = arguments.length > 0 ? arguments[0] : "http://127.0.0.1:2379";
        Directory directory = EtcdDirectory.open(List.of(server), DirectoryOptions.defaults());
        ReactiveTransferEngine decode = ReactiveTransferEngine.open();
        ReactiveTransferEngine prefill = ReactiveTransferEngine.open();
        MemoryRegion pages = decode.allocate(64, RegionOptions.readWrite().named("pages"));
        MemoryRegion source = prefill.allocate(64, RegionOptions.local());
        source.segment().setString(0, "found by name");

        // The decode node: its address, and each region that has a name.
        directory.publish(Advertisement.of("decode/7", decode.engine())).block();
        // The prefill node knows the name alone.
        NamedConnections.of(directory, prefill, ReconnectOptions.defaults())
                .connect("decode/7")
                .flatMap(connection -> directory
                        .lookupRegion("decode/7", "pages")
                        .flatMap(connection::attach)
                        .flatMap(remote -> connection.write(source, remote, 0)))
                .block();

        System.out.println("written: " + pages.segment().getString(0));
        Mono.when(prefill.close(), decode.close()).then(directory.close()).block();
    }
}
