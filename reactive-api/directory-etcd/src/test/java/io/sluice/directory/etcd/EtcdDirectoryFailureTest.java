package io.sluice.directory.etcd;

import io.sluice.directory.contract.DirectoryFailureContract;
import io.sluice.directory.contract.DirectoryUnderTest;

/** Failures of a real etcd, of Debian's package {@code etcd-server}, and of its clients. */
class EtcdDirectoryFailureTest extends DirectoryFailureContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return EtcdServer.start();
    }
}
