package io.sluice.samples.control;

/** The first byte of a message. */
enum MessageType {
    HELLO(1),
    WELCOME(2),
    ALLOCATE(3),
    PAGES(4),
    LAST(5),
    RESULT(6),
    REFUSED(7);

    private final int code;

    MessageType(int code) {
        this.code = code;
    }

    byte code() {
        return (byte) code;
    }

    static MessageType of(int code) {
        for (MessageType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        throw new MalformedMessageException("no message has the type " + code);
    }
}
