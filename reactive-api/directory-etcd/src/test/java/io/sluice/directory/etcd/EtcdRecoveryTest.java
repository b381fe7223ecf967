package io.sluice.directory.etcd;

import io.sluice.directory.contract.DirectoryRecoveryContract;
import io.sluice.directory.contract.DirectoryUnderTest;

/** How a directory comes back to a real etcd. */
class EtcdRecoveryTest extends DirectoryRecoveryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return EtcdServer.start();
    }
}
