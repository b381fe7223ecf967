package io.sluice.samples.command;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/** The version of this program; as a provider, what {@code --version} prints. */
public final class ProgramVersion implements IVersionProvider {
    public ProgramVersion() {}

    /** The version that the jar's manifest names. */
    static String current() {
        @Nullable String version = ProgramVersion.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    @Override
    public String[] getVersion() {
        return new String[] {"sluice " + current()};
    }
}
