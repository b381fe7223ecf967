package io.sluice.samples.command;

import picocli.CommandLine.IVersionProvider;

/** What {@code --version} says. */
public final class ProgramVersionProvider implements IVersionProvider {

    /** For picocli. */
    public ProgramVersionProvider() {}

    @Override
    public String[] getVersion() {
        return new String[] {"sluice " + ProgramVersion.current()};
    }
}
