package io.sluice.samples.prefill;

import io.sluice.engine.RemoteRegion;
import io.sluice.samples.control.ControlMessage.Welcome;
import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.SealTable;

/**
 * The decode side's memory, as this side reaches it.
 *
 * @param geometry layout of the page pool
 * @param pages the page pool
 * @param seals their table of seals
 */
record DecodeMemory(PageGeometry geometry, RemoteRegion pages, RemoteRegion seals) {

    /** The layout of the pool that a greeting was answered with. */
    static PageGeometry geometry(ModelPreset model, Welcome welcome) {
        PageGeometry geometry = new PageGeometry(model.layers(), model.pageBytes(), welcome.slots());
        if (welcome.pages().length() != geometry.poolBytes()
                || welcome.seals().length() != new SealTable(geometry).bytes()) {
            throw new MalformedMessageException("the decode side's regions are not as large as its pool");
        }
        return geometry;
    }

    SealTable sealTable() {
        return new SealTable(geometry);
    }
}
