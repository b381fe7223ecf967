package io.sluice.engine.memory;

import io.sluice.engine.Access;
import io.sluice.engine.Connection;
import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StaleDescriptorException;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.transport.EventLoop;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Both sides of attach, detach and look-up over the control channel. Confined to the connection's loop. */
public final class RegionExchange {
    private final RegionRegistry localRegions;
    private final Connection connection;
    private final AttachPaths paths;
    private final ExportTable exports;
    private final FramedSocket control;
    private final RegionRights rights;
    private final EventLoop loop;
    private final ServedAttach servedAttach;
    private final Map<Long, PendingRequest> pending = new LinkedHashMap<>();
    private long nextRequest;

    public RegionExchange(
            RegionRegistry localRegions,
            Connection connection,
            AttachPaths paths,
            ExportTable exports,
            FramedSocket control,
            RegionRights rights,
            EventLoop loop) {
        this.localRegions = localRegions;
        this.connection = connection;
        this.paths = paths;
        this.exports = exports;
        this.control = control;
        this.rights = rights;
        this.loop = loop;
        this.servedAttach = new ServedAttach(localRegions, paths, exports, control, rights, loop);
    }

    // ---- asking ----

    public void attach(List<RegionDescriptor> descriptors, long now, CompletableFuture<List<RemoteRegion>> result) {
        int count = descriptors.size();
        long request = nextRequest++;
        ByteBuffer body =
                ByteBuffer.allocate(8 + count * RegionDescriptor.BYTES).putLong(request);
        for (RegionDescriptor descriptor : descriptors) {
            body.put(descriptor.toBytes());
        }
        ask(request, MessageType.ATTACH, body, new PendingRequest(now) {
            private boolean isAnswered;

            @Override
            void answered(ByteBuffer answer) {
                if (isAnswered) {
                    throw new ProtocolException("the peer answers an attach twice");
                }
                isAnswered = true;
                List<RemoteRegion> attached = new ArrayList<>(count);
                List<PathChoice> choices = new ArrayList<>(count);
                List<RegionDescriptor> again = new ArrayList<>();
                SluiceException first = null;
                for (RegionDescriptor descriptor : descriptors) {
                    int status = AttachMessage.need(answer, AttachMessage.ANSWER_BYTES)
                            .get();
                    long handle = answer.getLong();
                    boolean isPutOff = status == AttachMessage.TOO_MANY && handle == AttachMessage.ASK_AGAIN;
                    if (!isPutOff && !again.isEmpty()) {
                        throw new ProtocolException("an answer to attach has keys after a region that it put off");
                    }
                    if (status == AttachMessage.OK) {
                        PathChoice choice = paths.read(descriptor, handle, answer);
                        try {
                            attached.add(choice.choose(connection));
                            choices.add(choice);
                        } catch (RuntimeException | Error e) {
                            // the policy is user code; its exception fails only this attach
                            first = first == null ? notChosen(descriptor, e) : first;
                            detach(handle, now, new CompletableFuture<>());
                        }
                    } else {
                        paths.readNoKeys(answer);
                        if (isPutOff && !choices.isEmpty()) {
                            again.add(descriptor);
                        } else if (first == null) {
                            first = isPutOff ? tooLong(descriptor) : refusal(status, descriptor);
                        }
                    }
                }
                if (answer.hasRemaining()) {
                    throw new ProtocolException("an answer to attach is too long");
                }
                if (first != null) {
                    giveUp(attached, first);
                    return;
                }
                // the request stays pending until it is ready, so that a silent peer is given up
                pending.put(request, this);
                paths.prepare(choices, error -> {
                    pending.remove(request);
                    if (error != null) {
                        giveUp(attached, error);
                    } else if (again.isEmpty()) {
                        result.complete(attached);
                    } else {
                        attachRest(again, attached);
                    }
                });
            }

            private void attachRest(List<RegionDescriptor> rest, List<RemoteRegion> attached) {
                CompletableFuture<List<RemoteRegion>> others = new CompletableFuture<>();
                others.whenComplete((more, error) -> {
                    if (error instanceof SluiceException known) {
                        giveUp(attached, known);
                    } else {
                        attached.addAll(more);
                        result.complete(attached);
                    }
                });
                attach(rest, loop.now(), others);
            }

            private void giveUp(List<RemoteRegion> attached, SluiceException error) {
                // no caller receives them, so they would stay attached as long as the connection
                attached.forEach(region -> connection.detach(region));
                result.completeExceptionally(error);
            }

            @Override
            void failed(SluiceException error) {
                result.completeExceptionally(error);
            }
        });
    }

    public void detach(AttachedRegion region, long now, CompletableFuture<Void> result) {
        paths.detached(region);
        detach(region.key().handle(), now, result);
    }

    private void detach(long handle, long now, CompletableFuture<Void> result) {
        long request = nextRequest++;
        ByteBuffer body = ByteBuffer.allocate(16).putLong(request).putLong(handle);
        ask(request, MessageType.DETACH, body, new PendingRequest(now) {
            @Override
            void answered(ByteBuffer answer) {
                result.complete(null);
            }

            @Override
            void failed(SluiceException error) {
                result.completeExceptionally(error);
            }
        });
    }

    public void lookup(String name, long now, CompletableFuture<RegionDescriptor> result) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        long request = nextRequest++;
        ByteBuffer body = ByteBuffer.allocate(8 + text.length).putLong(request).put(text);
        ask(request, MessageType.LOOKUP, body, new PendingRequest(now) {
            @Override
            void answered(ByteBuffer answer) {
                int status = AttachMessage.need(answer, 1).get();
                if ((status == AttachMessage.NOT_FOUND || status == AttachMessage.NOT_AUTHORIZED)
                        && !answer.hasRemaining()) {
                    result.completeExceptionally(
                            status == AttachMessage.NOT_AUTHORIZED
                                    ? new RemoteAccessException(
                                            RemoteAccessException.Reason.ACCESS_DENIED,
                                            "the peer does not let this engine use a region named '" + name + "'")
                                    : new RegionNotFoundException("the peer has no region named '" + name + "'"));
                    return;
                }
                if (status != AttachMessage.OK || answer.remaining() != RegionDescriptor.BYTES) {
                    throw new ProtocolException("the answer to a look-up is damaged");
                }
                byte[] bytes = new byte[RegionDescriptor.BYTES];
                answer.get(bytes);
                try {
                    result.complete(RegionDescriptor.fromBytes(bytes));
                } catch (InvalidDescriptorException e) {
                    throw new ProtocolException("the answer to a look-up is not a descriptor", e);
                }
            }

            @Override
            void failed(SluiceException error) {
                result.completeExceptionally(error);
            }
        });
    }

    private void ask(long request, int type, ByteBuffer body, PendingRequest waiting) {
        pending.put(request, waiting);
        control.send(type, body.array());
    }

    public void answered(ByteBuffer answer) {
        PendingRequest request = pending.remove(AttachMessage.need(answer, 8).getLong());
        if (request == null) {
            throw new ProtocolException("an answer to a request that was not sent");
        }
        try {
            request.answered(answer);
        } catch (RuntimeException | Error e) {
            // it is no longer among the pending ones, which the end of the connection would fail
            request.failed(
                    e instanceof SluiceException known
                            ? known
                            : new SluiceException("the peer's answer could not be handled: " + e, e));
            throw e;
        }
    }

    /** Returns since when the oldest request waits, or null if there is none. */
    public @Nullable Long oldest() {
        Iterator<PendingRequest> requests = pending.values().iterator();
        return requests.hasNext() ? requests.next().askedAt() : null;
    }

    public void failAll(SluiceException error) {
        List<PendingRequest> all = List.copyOf(pending.values());
        pending.clear();
        all.forEach(request -> request.failed(error));
    }

    // ---- answering ----

    public void attachAsked(ByteBuffer body) {
        servedAttach.asked(body);
    }

    /** Continues the peer's attach, if one is in progress; returns true once it is answered. */
    public boolean goOn() {
        return servedAttach.goOn();
    }

    public void detachAsked(ByteBuffer body) {
        long request = AttachMessage.need(body, 16).getLong();
        long handle = body.getLong();
        if (exports.remove(handle)) {
            paths.exportEnded(handle);
        }
        control.answer(
                MessageType.DETACH_RESULT,
                ByteBuffer.allocate(8).putLong(request).array());
    }

    public void lookupAsked(ByteBuffer body) {
        long request = AttachMessage.need(body, 8).getLong();
        if (body.remaining() > RegionOptions.MAX_NAME_BYTES) {
            // no region has such a name, so the authorizer need not be asked about it
            control.answer(
                    MessageType.LOOKUP_RESULT,
                    ByteBuffer.allocate(9)
                            .putLong(request)
                            .put((byte) AttachMessage.NOT_FOUND)
                            .array());
            return;
        }
        byte[] text = new byte[body.remaining()];
        body.get(text);
        String name = new String(text, StandardCharsets.UTF_8);
        LocalRegion region = localRegions.get(name);
        Set<Access> granted = region == null ? Set.of() : rights.of(name, region.access());
        ByteBuffer answer;
        if (!rights.mayLookUp(name)) {
            // the same whether there is such a region or not: a peer without rights must not learn that
            answer = ByteBuffer.allocate(9).putLong(request).put((byte) AttachMessage.NOT_AUTHORIZED);
        } else if (region == null || !region.isOpen() || region.access().isEmpty() || !paths.register(region.kind())) {
            answer = ByteBuffer.allocate(9).putLong(request).put((byte) AttachMessage.NOT_FOUND);
        } else if (granted.isEmpty()) {
            answer = ByteBuffer.allocate(9).putLong(request).put((byte) AttachMessage.NOT_AUTHORIZED);
        } else {
            answer = ByteBuffer.allocate(9 + RegionDescriptor.BYTES)
                    .putLong(request)
                    .put((byte) AttachMessage.OK)
                    .put(region.descriptor(granted).toBytes());
        }
        control.answer(MessageType.LOOKUP_RESULT, answer.array());
    }

    private static SluiceException notChosen(RegionDescriptor descriptor, Throwable error) {
        return error instanceof SluiceException known
                ? known
                : new SluiceException("the path policy has failed for " + descriptor + ": " + error, error);
    }

    private static SluiceException tooLong(RegionDescriptor descriptor) {
        return new SluiceException("the peer's keys of the region of " + descriptor + " are too long for any answer");
    }

    private static SluiceException refusal(int status, RegionDescriptor descriptor) {
        return switch (status) {
            case AttachMessage.STALE_EPOCH, AttachMessage.WRONG_ENGINE ->
                new StaleDescriptorException("the peer's engine is not the one that issued " + descriptor);
            case AttachMessage.REGION_CLOSED ->
                new StaleDescriptorException("the peer has closed the region of " + descriptor);
            case AttachMessage.TOO_MANY ->
                new SluiceException("the peer lets no more regions be attached on this connection;"
                        + " detach some, or raise its maxAttachedRegions");
            case AttachMessage.NOT_AUTHORIZED ->
                new RemoteAccessException(
                        RemoteAccessException.Reason.ACCESS_DENIED,
                        "the peer does not let this engine use " + descriptor + " with the rights it gives");
            case AttachMessage.UNSUPPORTED_MEMORY ->
                new MemoryNotAccessibleException("no transport of this connection reaches the memory of "
                        + descriptor
                        + "; connect again, as a new connection may have a path to it, or use other memory at"
                        + " the peer");
            default -> new InvalidDescriptorException("the peer did not issue " + descriptor);
        };
    }
}
