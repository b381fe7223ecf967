package io.sluice.directory.etcd;

import io.sluice.directory.contract.DirectoryContract;
import io.sluice.directory.contract.DirectoryUnderTest;

/** The contract in a real etcd, of Debian's package {@code etcd-server}. */
class EtcdDirectoryTest extends DirectoryContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return EtcdServer.start();
    }
}
