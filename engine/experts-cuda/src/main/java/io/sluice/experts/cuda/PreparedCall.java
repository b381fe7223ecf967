package io.sluice.experts.cuda;

import io.sluice.cuda.GpuWork;
import io.sluice.cuda.MappedRegion;
import java.util.List;

/**
 * The launches of a call, and the regions of the user's that they use.
 *
 * @param whole both halves
 * @param send the first
 * @param receive the second
 */
record PreparedCall(GpuWork whole, GpuWork send, GpuWork receive, List<MappedRegion> regions) {
    /** Lets the regions go once what was started is done. */
    void close() {
        regions.forEach(MappedRegion::close);
    }
}
