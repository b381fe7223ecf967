package io.sluice.collectives;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import org.jspecify.annotations.Nullable;

/**
 * Loads the classes of this module once more. In one of them a method is changed: a static method of {@link Mutations} with
 * the same name as the mutation gets what it returns, and the object, and says what it returns instead.
 */
final class MutatedClasses extends ClassLoader {
    private static final String OWN = "io.sluice.collectives.";

    private final String changedClass;
    private final String changedMethod;
    private final String mutation;
    private boolean changed;

    static {
        registerAsParallelCapable();
    }

    MutatedClasses(String changedClass, String changedMethod, String mutation) {
        super(MutatedClasses.class.getClassLoader());
        this.changedClass = changedClass;
        this.changedMethod = changedMethod;
        this.mutation = mutation;
    }

    /** Whether the class was loaded and has the method. */
    boolean isChanged() {
        return changed;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OWN)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known == null ? define(name) : known;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        byte[] bytes = bytes(name);
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        if (name.equals(changedClass)) {
            bytes = mutated(bytes);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    private byte @Nullable [] bytes(String name) {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            return in == null ? null : in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] mutated(byte[] bytes) {
        ClassFile file = ClassFile.of(
                ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(getParent())));
        ClassDesc owner = ClassDesc.of(changedClass);
        return file.transformClass(
                file.parse(bytes),
                ClassTransform.transformingMethodBodies(this::isTheMethod, CodeTransform.ofStateful(() -> {
                    changed = true;
                    return (code, element) -> {
                        if (element instanceof ReturnInstruction) {
                            ClassDesc type = file.parse(bytes).methods().stream()
                                    .filter(this::isTheMethod)
                                    .findFirst()
                                    .orElseThrow()
                                    .methodTypeSymbol()
                                    .returnType();
                            code.aload(0);
                            code.invokestatic(
                                    ClassDesc.of(Mutations.class.getName()),
                                    mutation,
                                    MethodTypeDesc.of(type, type, owner));
                        }
                        code.with(element);
                    };
                })));
    }

    private boolean isTheMethod(MethodModel method) {
        return method.methodName().equalsString(changedMethod)
                && !method.flags().has(AccessFlag.STATIC)
                && !method.flags().has(AccessFlag.SYNTHETIC);
    }
}
