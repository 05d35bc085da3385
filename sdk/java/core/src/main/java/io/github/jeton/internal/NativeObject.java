package io.github.jeton.internal;

import java.lang.ref.Reference;

/** An object with a value in the native library. Closing it is optional: otherwise it is released when it is unreachable. */
public abstract class NativeObject implements AutoCloseable {
    private final Handle handle;

    /** Takes over the value of a reply. */
    protected NativeObject(Handle.Kind kind, byte[] reply) {
        this.handle = Handle.of(kind, reply, this);
    }

    /**
     * Releases the value of the native library and wipes its secrets. Calls that run finish first. A later call is an error
     * with the code {@code ARGUMENT_HANDLE}. Objects that were made with this one keep what they need.
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

    /** Runs a call of the native library. It is released only afterwards. */
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

    /** Whether it was closed. */
    static boolean isClosed(NativeObject object) {
        return object.handle.isClosed();
    }

    /** The handle, for calls that are frequent. */
    static Handle handle(NativeObject object) {
        return object.handle;
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + (handle.isClosed() ? "(closed)" : "");
    }
}
