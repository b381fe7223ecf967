package io.sluice.directory.etcd.snippets;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.DirectoryOptions;
import io.sluice.directory.NamedConnections;
import io.sluice.directory.Publication;
import io.sluice.directory.etcd.EtcdDirectory;
import io.sluice.engine.RemoteRegion;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import java.util.List;
import reactor.core.publisher.Flux;

/** Two nodes that find each other, for the page about discovery. */
abstract class FindingEachOther {
    abstract Flux<?> work(ReactiveConnection connection, List<RemoteRegion> regions);

    @SuppressWarnings("unused")
    void run(ReactiveTransferEngine engine) {
        // begin
        Directory directory = EtcdDirectory.open(List.of("http://10.0.0.1:2379"), DirectoryOptions.defaults());

        // On the decode node: a name, the address, and every region that has a name.
        Publication publication =
                directory.publish(Advertisement.of("decode/7", engine.engine())).block();

        // On a prefill node: stays connected to decode/7, also after a restart. The work handles its own errors;
        // an error that leaves it ends the Flux and closes the connection.
        NamedConnections.of(directory, engine, ReconnectOptions.defaults())
                .connections("decode/7")
                .switchMap(connection -> directory
                        .lookupRegions("decode/7", "layer/07/")
                        .flatMap(listing ->
                                connection.attach(List.copyOf(listing.regions().values())))
                        .flatMapMany(regions -> work(connection, regions)))
                .subscribe();
        // end
    }
}
