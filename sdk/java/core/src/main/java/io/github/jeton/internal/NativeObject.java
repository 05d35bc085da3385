package io.github.jeton.internal;

import java.lang.ref.Reference;

/** An object with a value in the native library. Closing it is optional: an unreachable object is released. */
public abstract class NativeObject implements AutoCloseable {
    private final Handle handle;

    /** Takes over the value of a reply. */
    protected NativeObject(Handle.Kind kind, byte[] reply) {
        this.handle = Handle.of(kind, reply, this);
    }

    /**
     * Releases the native value and wipes its secrets. Running calls finish first. Later calls fail with the code
     * {@code ARGUMENT_HANDLE}. Objects created with this one keep working.
     */
    @Override
    public void close() {
        handle.close();
    }

    /** A call with the address of a handle. */
    @FunctionalInterface
    interface Call {
        byte[] with(long address);
    }

    /** Calls the native library. The value is not released during the call. */
    static byte[] call(NativeObject object, Call call) {
        Handle handle = object.handle;
        int place = handle.begin();
        try {
            return call.with(handle.address());
        } finally {
            handle.end(place);
            Reference.reachabilityFence(object);
        }
    }

    /** As {@link #call}, with 0 for null. */
    static byte[] callOptional(NativeObject object, Call call) {
        return object == null ? call.with(0) : call(object, call);
    }

    /** Returns whether the object is closed. */
    static boolean isClosed(NativeObject object) {
        return object.handle.isClosed();
    }

    /** Returns the handle, for frequent calls. */
    static Handle handle(NativeObject object) {
        return object.handle;
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + (handle.isClosed() ? "(closed)" : "");
    }
}
