package io.sluice.directory;

import io.sluice.engine.EngineAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The head of an entry: the engine, its address, and the index of its chunks. Fields: name, revision (8 bytes),
 * publication (8), epoch (8), address, number of chunks, and for each chunk the number of its regions and the name of
 * the first.
 *
 * @param entry the entry as users see it
 * @param publication a random number that identifies the publication
 * @param chunks the index of the chunks
 */
record EntryHead(EngineEntry entry, long publication, ChunkIndex chunks) {
    static final int MAX_BYTES = 256 << 10;
    static final int MAX_CHUNKS = 1 << 10;

    private static final byte KIND = 1;
    private static final int MAX_ADDRESS_BYTES = 276;
    private static final int LEAST_CHUNK_BYTES = 3;

    byte[] toBytes() {
        FormWriter form = new FormWriter(KIND)
                .putBytes(entry.name().getBytes(StandardCharsets.US_ASCII), 0)
                .putLong(entry.revision())
                .putLong(publication)
                .putLong(entry.epoch())
                .putBytes(entry.address().toBytes(), 0)
                .putVariable(chunks.size());
        for (int i = 0; i < chunks.size(); i++) {
            form.putVariable(chunks.counts().get(i))
                    .putBytes(chunks.firstNames().get(i).getBytes(StandardCharsets.UTF_8), 0);
        }
        if (chunks.size() > MAX_CHUNKS || form.size() > MAX_BYTES) {
            throw new IllegalArgumentException("the regions' names are too long for one entry: its index would have "
                    + chunks.size() + " parts and " + form.size() + " bytes");
        }
        return form.finish();
    }

    /** Parses the head of a name. */
    static EntryHead fromBytes(String name, byte[] bytes) {
        FormReader form = new FormReader(bytes, KIND, MAX_BYTES, "the entry '" + name + "'");
        String written = new String(form.getBytes(Names.MAX_LENGTH), StandardCharsets.US_ASCII);
        if (!written.equals(name)) {
            throw form.malformed("it is the entry of another name");
        }
        long revision = form.getLong();
        long publication = form.getLong();
        long epoch = form.getLong();
        byte[] address = form.getBytes(MAX_ADDRESS_BYTES);
        int count = form.getCount(MAX_CHUNKS, LEAST_CHUNK_BYTES);
        List<String> firstNames = new ArrayList<>(count);
        List<Integer> counts = new ArrayList<>(count);
        long regions = 0;
        for (int i = 0; i < count; i++) {
            long inChunk = form.getVariable();
            if (inChunk < 1 || inChunk > Advertisement.MAX_REGIONS) {
                throw form.malformed("a part has " + inChunk + " regions");
            }
            regions += inChunk;
            byte[] first = form.getBytes(FormReader.MAX_REGION_NAME_BYTES);
            String firstName = RegionNames.decode(form, first, first.length);
            if (i > 0 && firstNames.getLast().compareTo(firstName) >= 0) {
                throw form.malformed("its parts are out of order");
            }
            firstNames.add(firstName);
            counts.add((int) inChunk);
        }
        form.end();
        if (regions > Advertisement.MAX_REGIONS) {
            throw form.malformed("it has " + regions + " regions");
        }
        try {
            EngineEntry entry = new EngineEntry(name, EngineAddress.fromBytes(address), epoch, revision, (int) regions);
            return new EntryHead(entry, publication, new ChunkIndex(firstNames, counts));
        } catch (IllegalArgumentException | NullPointerException e) {
            throw form.malformed("it lacks a valid engine address", e);
        }
    }
}
