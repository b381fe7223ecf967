package io.sluice.comm.nccl;

import io.sluice.engine.transport.RemoteKey;

/** A region of the peer's from and to which NCCL copies. */
final class NcclRemoteKey extends RemoteKey {
    NcclRemoteKey(long handle, long key, long epoch) {
        super(handle, key, epoch);
    }

    /** A word alone is not worth a group: another path changes it. */
    @Override
    public boolean carriesWords() {
        return false;
    }
}
