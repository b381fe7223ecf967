package io.sluice.samples.compare;

/** What a bare virtual machine takes to start, to say something, and to end. It is run without any other class. */
final class Hello {
    private Hello() {}

    public static void main(String[] arguments) {
        System.out.println("hello");
    }
}
