package io.sluice.cuda;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** Which GPU of this process carries a request out, and whether one may. On a loop's thread. */
final class GpuChoice {
    private static final int NONE = -1;

    private final Gpus gpus;

    GpuChoice(Gpus gpus) {
        this.gpus = gpus;
    }

    /**
     * The GPU that carries it out: the local memory's; that of the word; else the one that the remote memory lies on, or, if this
     * process does not see it or it refuses, one that has it mapped; −1 for none.
     */
    int ordinalOf(WorkRequest request, CudaRemoteKey key) {
        if (request.operation().isAtomic()) {
            return ordinalOfWord(key, key.allocation().preferred());
        }
        if (request.registration() instanceof DeviceRegistration device) {
            return device.gpu().ordinal();
        }
        int owner = gpus.ordinal(key.allocation().keys().gpu());
        return owner != NONE && key.allocation().refusal(owner) == null
                ? owner
                : key.allocation().preferred();
    }

    /** A GPU whose additions to a word are atomic: the wanted one if it is; else the one that the word lies on, if it is seen here. */
    int ordinalOfWord(CudaRemoteKey key, int wanted) {
        String owner = key.allocation().keys().gpu();
        return wanted != NONE && gpus.addsTo(wanted, owner) ? wanted : gpus.ordinal(owner);
    }

    static boolean isCopy(WorkRequest request) {
        return request.operation() == WorkRequest.Opcode.WRITE || request.operation() == WorkRequest.Opcode.READ;
    }

    /** Why it is not carried out by a GPU, without being posted; null if it may be. */
    @Nullable
    CompletionStatus refusal(WorkRequest request, CudaRemoteKey key, int ordinal) {
        long length = request.hasPages() ? 0 : request.length();
        CompletionStatus refused = key.refusal(request.operation(), request.remoteOffset(), length);
        if (refused != null) {
            return refused;
        }
        if (ordinal == NONE) {
            return request.operation().isAtomic() ? CompletionStatus.UNSUPPORTED : CompletionStatus.REMOTE_MEMORY_FAULT;
        }
        if (key.allocation().refusal(ordinal) != null) {
            return CompletionStatus.REMOTE_MEMORY_FAULT;
        }
        if (isCopy(request) && isLocalRefused(request.registration())) {
            return CompletionStatus.LOCAL_MEMORY_FAULT;
        }
        return request.hasSignal() ? signalRefusal(request, ordinal) : null;
    }

    private @Nullable CompletionStatus signalRefusal(WorkRequest request, int ordinal) {
        CudaRemoteKey word = (CudaRemoteKey) request.signal();
        CompletionStatus refused =
                word.refusal(WorkRequest.Opcode.SIGNAL, request.signalOffset(), WorkRequest.WORD_BYTES);
        if (refused != null) {
            return refused;
        }
        int adding = ordinalOfWord(word, ordinal);
        if (adding == NONE) {
            return CompletionStatus.UNSUPPORTED;
        }
        return word.allocation().refusal(adding) == null ? null : CompletionStatus.REMOTE_MEMORY_FAULT;
    }

    private static boolean isLocalRefused(@Nullable RegisteredMemory registration) {
        return switch (registration) {
            case DeviceRegistration device -> false;
            case HostRegistration host ->
                host.state() == HostRegistration.State.REFUSED || host.state() == HostRegistration.State.CLOSED;
            case null, default -> true;
        };
    }

    /** Whether another GPU than the one that copies adds to the word of the request's signal. */
    boolean signalFollows(WorkRequest request, int ordinal) {
        return request.hasSignal() && ordinalOfWord((CudaRemoteKey) request.signal(), ordinal) != ordinal;
    }
}
