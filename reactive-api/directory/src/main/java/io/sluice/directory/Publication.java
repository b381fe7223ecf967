package io.sluice.directory;

import io.sluice.engine.RegionDescriptor;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * An engine's entry, kept alive by this process. While the directory does not answer, renewing is tried again and again; if
 * the lease has expired meanwhile, or the directory has lost the entry, it is published again. All methods may be called
 * from any thread.
 */
public interface Publication {
    /**
     * What was published last.
     *
     * @return the entry
     */
    EngineEntry entry();

    /**
     * Replaces the regions.
     *
     * @param regions all of them, of the same run of the same engine
     * @return the new entry; or {@link DirectoryUnavailableException}, after which the change may or may not be published
     *     later; {@link NameTakenException}; {@link DirectoryClosedException} if it has ended
     */
    Mono<EngineEntry> update(Map<String, RegionDescriptor> regions);

    /**
     * Takes the entry out of the directory at once. If the directory does not answer, the entry expires with its lease.
     *
     * @return completes when it is out; or {@link DirectoryUnavailableException}: it is no longer kept alive
     */
    Mono<Void> withdraw();

    /**
     * The end of the publication.
     *
     * @return completes when it was withdrawn, or the directory was closed; {@link NameTakenException} if another
     *     publication has the name
     */
    Mono<Void> ended();
}
