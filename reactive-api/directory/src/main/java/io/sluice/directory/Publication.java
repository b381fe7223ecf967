package io.sluice.directory;

import io.sluice.engine.RegionDescriptor;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * An engine's entry, kept alive by this process. While the directory does not answer, renewal is retried; if the lease
 * has expired meanwhile, or the directory has lost the entry, the entry is published again. All methods may be called
 * from any thread.
 */
public interface Publication {
    /**
     * Returns what was published last.
     *
     * @return the entry
     */
    EngineEntry entry();

    /**
     * Replaces the regions.
     *
     * @param regions all regions, of the same engine and epoch
     * @return the new entry; or {@link DirectoryUnavailableException}, after which the change may still be published
     *     later; {@link NameTakenException}; {@link DirectoryClosedException} if the publication has ended
     */
    Mono<EngineEntry> update(Map<String, RegionDescriptor> regions);

    /**
     * Removes the entry from the directory. If the directory does not answer, the entry expires with its lease.
     *
     * @return completes when it is removed; or {@link DirectoryUnavailableException}: it is no longer renewed
     */
    Mono<Void> withdraw();

    /**
     * Returns the end of the publication.
     *
     * @return completes after a withdrawal or when the directory is closed; {@link NameTakenException} if another
     *     publication has the name
     */
    Mono<Void> ended();
}
