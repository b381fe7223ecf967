package io.sluice.engine.memory;

import io.sluice.engine.InvalidDescriptorException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.control.CycleBudget;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.transport.EventLoop;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Answers an attach of the peer: checks some of its descriptors in each duty cycle, so that the poller's other work is
 * not delayed, and attaches all of them at the end. So the answer is sent before the end of any region in it is
 * reported. The peer's next message waits meanwhile. Confined to the connection's loop.
 */
final class ServedAttach {
    /** The descriptors checked in a cycle: for each a MAC is computed and the user's authorizer called. */
    static final int DESCRIPTORS_A_CYCLE = 128;

    private final RegionRegistry regions;
    private final AttachPaths paths;
    private final ExportTable exports;
    private final FramedSocket control;
    private final RegionRights rights;
    private final CycleBudget budget;
    private long request;
    // null: none in progress
    private @Nullable RegionDescriptor @Nullable [] descriptors;
    private byte[] bytes = {};
    private int[] statuses = {};
    private int next;
    // of the answer being built: bytes left for keys, and whether some did not fit
    private int room;
    private boolean full;

    ServedAttach(
            RegionRegistry regions,
            AttachPaths paths,
            ExportTable exports,
            FramedSocket control,
            RegionRights rights,
            EventLoop loop) {
        this.regions = regions;
        this.paths = paths;
        this.exports = exports;
        this.control = control;
        this.rights = rights;
        this.budget = new CycleBudget(loop, DESCRIPTORS_A_CYCLE);
    }

    void asked(ByteBuffer body) {
        request = AttachMessage.need(body, 8).getLong();
        int count = body.remaining() / RegionDescriptor.BYTES;
        if (body.remaining() != count * RegionDescriptor.BYTES || count > AttachMessage.BATCH) {
            throw new ProtocolException("an attach of " + body.remaining() + " bytes");
        }
        bytes = new byte[body.remaining()];
        body.get(bytes);
        descriptors = new @Nullable RegionDescriptor[count];
        statuses = new int[count];
        next = 0;
        goOn();
    }

    /** Returns true if none is in progress any more. */
    boolean goOn() {
        @Nullable RegionDescriptor[] asked = descriptors;
        if (asked == null) {
            return true;
        }
        while (next < asked.length && budget.left() > 0) {
            budget.spend(1);
            look(asked, next++);
        }
        if (next < asked.length) {
            return false;
        }
        descriptors = null;
        bytes = new byte[0];
        answer(asked);
        return true;
    }

    private void look(@Nullable RegionDescriptor[] asked, int at) {
        int from = at * RegionDescriptor.BYTES;
        try {
            RegionDescriptor descriptor =
                    RegionDescriptor.fromBytes(Arrays.copyOfRange(bytes, from, from + RegionDescriptor.BYTES));
            asked[at] = descriptor;
            statuses[at] = statusOf(descriptor);
        } catch (InvalidDescriptorException e) {
            statuses[at] = AttachMessage.NOT_GENUINE;
        }
    }

    private int statusOf(RegionDescriptor descriptor) {
        if (!regions.descriptorKeys().isOfEngine(descriptor)) {
            return AttachMessage.WRONG_ENGINE;
        }
        if (!regions.descriptorKeys().isOfRun(descriptor)) {
            return AttachMessage.STALE_EPOCH;
        }
        if (!regions.descriptorKeys().isGenuine(descriptor)) {
            return AttachMessage.NOT_GENUINE;
        }
        LocalRegion region = regions.get(descriptor.regionId());
        if (region == null || !region.isOpen()) {
            return AttachMessage.REGION_CLOSED;
        }
        if (!rights.of(region.name(), descriptor.access()).containsAll(descriptor.access())) {
            return AttachMessage.NOT_AUTHORIZED;
        }
        return paths.register(region.kind()) ? AttachMessage.OK : AttachMessage.UNSUPPORTED_MEMORY;
    }

    private void answer(@Nullable RegionDescriptor[] asked) {
        ByteArrayOutputStream answer = new ByteArrayOutputStream(8 + asked.length * AttachMessage.ANSWER_BYTES);
        answer.writeBytes(ByteBuffer.allocate(8).putLong(request).array());
        full = false;
        room = AttachMessage.MOST_ANSWER_BYTES
                - 8
                - asked.length * (AttachMessage.ANSWER_BYTES + paths.noKeys().length);
        for (int i = 0; i < asked.length; i++) {
            RegionDescriptor descriptor = asked[i];
            if (full) {
                putOff(answer);
            } else if (descriptor == null || statuses[i] != AttachMessage.OK) {
                refuse(answer, statuses[i]);
            } else {
                attach(descriptor, answer);
            }
        }
        control.answer(MessageType.ATTACH_RESULT, answer.toByteArray());
    }

    private void attach(RegionDescriptor descriptor, ByteArrayOutputStream answer) {
        // it may have been closed since the check, such as by the authorizer
        LocalRegion region = regions.get(descriptor.regionId());
        if (region == null || !region.acquire()) {
            refuse(answer, AttachMessage.REGION_CLOSED);
            return;
        }
        try {
            attach(region, descriptor, answer);
        } finally {
            region.release();
        }
    }

    /** Attaches a region that stays open until this returns. */
    private void attach(LocalRegion region, RegionDescriptor descriptor, ByteArrayOutputStream answer) {
        @Nullable RegionExport[] exported = paths.export(region, descriptor);
        if (exported == null) {
            refuse(answer, AttachMessage.UNSUPPORTED_MEMORY);
            return;
        }
        long handle = exports.add(exported);
        if (handle < 0) {
            refuse(answer, AttachMessage.TOO_MANY);
            return;
        }
        byte[] keys = paths.keysOf(handle, region, exported);
        if (keys == null) {
            exports.remove(handle);
            refuse(answer, AttachMessage.REGION_CLOSED);
            return;
        }
        room -= keys.length;
        if (room < 0) {
            full = true;
            exports.remove(handle);
            paths.exportEnded(handle);
            putOff(answer);
            return;
        }
        answer(answer, AttachMessage.OK, handle, keys);
    }

    private void putOff(ByteArrayOutputStream answer) {
        answer(answer, AttachMessage.TOO_MANY, AttachMessage.ASK_AGAIN, paths.noKeys());
    }

    private void refuse(ByteArrayOutputStream answer, int status) {
        answer(answer, status, 0, paths.noKeys());
    }

    private static void answer(ByteArrayOutputStream answer, int status, long handle, byte[] keys) {
        answer.writeBytes(ByteBuffer.allocate(AttachMessage.ANSWER_BYTES)
                .put((byte) status)
                .putLong(handle)
                .array());
        answer.writeBytes(keys);
    }
}
