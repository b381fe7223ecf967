package io.sluice.engine.transport.verbs;

/** The cable of a device: the software adapter's port, or the network interface below softRoCE. It is up again in the end. */
final class DeviceLink implements AutoCloseable {
    private final String device;

    DeviceLink(String device) {
        this.device = device;
    }

    void down() {
        set(false);
    }

    void up() {
        set(true);
    }

    private void set(boolean up) {
        if (TestDevices.areInThisProcess()) {
            SoftAdapter.get().port(device, up);
        } else {
            SoftRoceInterface.run(
                    "ip", "link", "set", SoftRoceInterface.below(device).name(), up ? "up" : "down");
        }
    }

    @Override
    public void close() {
        up();
    }
}
