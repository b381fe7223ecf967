package io.sluice.directory.contract;

/** Failures of the embedded directory. */
class InProcessDirectoryFailureTest extends DirectoryFailureContract {
    @Override
    protected DirectoryUnderTest startStore() {
        return new InProcessDirectoryTest.InProcess();
    }
}
