package io.sluice.directory;

import io.sluice.directory.store.StoredValue;
import io.sluice.engine.RegionDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One revision of an entry in its stored form. The same content and revision always encode to the same bytes.
 *
 * @param head the head, which refers to the chunks
 * @param chunks stored before the head
 */
record EncodedEntry(EntryHead head, List<StoredValue> chunks) {
    static EncodedEntry of(Advertisement advertisement, long publication, long revision) {
        List<StoredValue> chunks = new ArrayList<>();
        List<String> firstNames = new ArrayList<>();
        List<Integer> counts = new ArrayList<>();
        RegionChunk.Writer chunk = new RegionChunk.Writer(revision, 0);
        for (Map.Entry<String, RegionDescriptor> region :
                advertisement.regions().entrySet()) {
            if (chunk.count() == 0) {
                firstNames.add(region.getKey());
            }
            chunk.add(region.getKey(), region.getValue());
            if (chunk.isFull()) {
                finish(advertisement.name(), publication, revision, chunk, chunks, counts);
                chunk = new RegionChunk.Writer(revision, chunks.size());
            }
        }
        if (chunk.count() > 0) {
            finish(advertisement.name(), publication, revision, chunk, chunks, counts);
        }
        EngineEntry entry = new EngineEntry(
                advertisement.name(),
                advertisement.address(),
                advertisement.epoch(),
                revision,
                advertisement.regions().size());
        return new EncodedEntry(new EntryHead(entry, publication, new ChunkIndex(firstNames, counts)), chunks);
    }

    private static void finish(
            String name,
            long publication,
            long revision,
            RegionChunk.Writer chunk,
            List<StoredValue> chunks,
            List<Integer> counts) {
        counts.add(chunk.count());
        chunks.add(new StoredValue(Keys.chunk(name, publication, revision, chunks.size()), chunk.finish()));
    }
}
