package io.sluice.testkit;

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
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Loads the classes of a module once more, tests included. In one of them a method is changed: a static method of a class of
 * mutations gets what it returns, and the object, and says what it returns instead.
 */
public final class MutatedClasses extends ClassLoader {
    private final Class<?> mutations;
    private final String own;
    private final String changedClass;
    private final String changedMethod;
    private final String mutation;
    private boolean changed;

    static {
        registerAsParallelCapable();
    }

    /**
     * Creates a loader.
     *
     * @param mutations has the mutations; public, as all packages of the module call it. What is in its package and below is
     *     loaded once more
     * @param changedClass the class to change, by its full name; or empty
     * @param changedMethod the method to change, not a static one
     * @param mutation the name of the mutation
     */
    public MutatedClasses(Class<?> mutations, String changedClass, String changedMethod, String mutation) {
        super(mutations.getClassLoader());
        this.mutations = mutations;
        this.own = mutations.getPackageName() + ".";
        this.changedClass = changedClass;
        this.changedMethod = changedMethod;
        this.mutation = mutation;
    }

    /**
     * Whether the class was loaded and has the method.
     *
     * @return false if nothing was changed
     */
    public boolean isChanged() {
        return changed;
    }

    /**
     * Runs a method of a test on the classes as they are here.
     *
     * @param test the simple name of a class in the package of the mutations
     * @param method the method; the only one of its name
     * @param arguments what it gets
     * @throws Throwable what the method throws
     */
    public void run(String test, String method, Object... arguments) throws Throwable {
        Class<?> type = Class.forName(own + test, true, this);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method run = Arrays.stream(type.getDeclaredMethods())
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        run.setAccessible(true);
        try {
            run.invoke(constructor.newInstance(), arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(own)) {
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
                                    ClassDesc.of(mutations.getName()), mutation, MethodTypeDesc.of(type, type, owner));
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
