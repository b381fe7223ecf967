package io.sluice.samples.command;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.SluiceException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A decode side in a process of its own on this machine, which never outlives this process. */
final class DecodeProcess implements DecodeSide {

    private final SecondProcess process;

    private DecodeProcess(SecondProcess process) {
        this.process = process;
    }

    /**
     * Starts one and waits until it listens.
     *
     * @param options of the decode command
     * @param termination ends the waiting
     * @throws CommandFailure if it does not come up
     */
    static DecodeProcess start(List<String> options, Termination termination) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("decode", "--once"));
        arguments.addAll(options);
        return new DecodeProcess(SecondProcess.start("the decode process", List.of(), arguments, termination));
    }

    @Override
    public EngineAddress address() {
        return process.address();
    }

    @Override
    public RuntimeException explain(SluiceException error) {
        return process.explain(error);
    }

    @Override
    public void close() {
        process.close();
    }
}
