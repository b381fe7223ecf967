package io.sluice.samples.compare;

/** A program that prints a line and ends, to time the start of a bare virtual machine. It is run without any other class. */
final class Hello {
    private Hello() {}

    public static void main(String[] arguments) {
        System.out.println("hello");
    }
}
