package io.sluice.engine.memory;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.flow.TransferErrors;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Requests checksums from the peer, one after the other, as each costs the peer as much as a read. */
public final class AskedChecksums {
    private final FramedSocket control;
    private final ArrayDeque<Question> questions = new ArrayDeque<>();
    private long nextRequest;
    private long lastWord;
    private long wordsLeft;

    private record Question(RemoteKey key, long offset, long length, CompletableFuture<Long> result) {}

    public AskedChecksums(FramedSocket control) {
        this.control = control;
    }

    public void ask(RemoteKey key, long offset, long length, long now, CompletableFuture<Long> result) {
        questions.addLast(new Question(key, offset, length, result));
        if (questions.size() == 1) {
            send(questions.getFirst(), now);
        }
    }

    private void send(Question question, long now) {
        lastWord = now;
        wordsLeft = ServedChecksums.mostWords(question.length);
        control.send(
                MessageType.CHECKSUM,
                ByteBuffer.allocate(ServedChecksums.QUESTION_BYTES)
                        .putLong(nextRequest)
                        .putLong(question.key.handle())
                        .putLong(question.key.key())
                        .putLong(question.key.epoch())
                        .putLong(question.offset)
                        .putLong(question.length)
                        .array());
    }

    public void answered(ByteBuffer body, long now) {
        if (body.remaining() != ServedChecksums.ANSWER_BYTES || questions.isEmpty() || body.getLong() != nextRequest) {
            throw new ProtocolException("a checksum that was not asked for");
        }
        int status = Byte.toUnsignedInt(body.get());
        lastWord = now;
        if (status == ServedChecksums.UNDER_WAY) {
            // each stands for a piece that was summed; otherwise a peer could delay the end forever
            if (wordsLeft-- == 0) {
                throw new ProtocolException("the peer says too often that a checksum is under way");
            }
            return;
        }
        nextRequest++;
        Question answered = questions.removeFirst();
        if (!questions.isEmpty()) {
            send(questions.getFirst(), now);
        }
        if (status == CompletionStatus.SUCCESS.code()) {
            answered.result.complete(Integer.toUnsignedLong(body.getInt()));
        } else {
            answered.result.completeExceptionally(
                    TransferErrors.refused(CompletionStatus.refusal(status), WorkRequest.Opcode.READ));
        }
    }

    /** Returns since when the peer has not reported on the pending request, or null if there is none. */
    public @Nullable Long waitingSince() {
        return questions.isEmpty() ? null : lastWord;
    }

    public void failAll(SluiceException error) {
        List<Question> all = List.copyOf(questions);
        questions.clear();
        all.forEach(question -> question.result.completeExceptionally(error));
    }
}
