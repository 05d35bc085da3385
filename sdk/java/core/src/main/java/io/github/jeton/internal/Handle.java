package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;

/**
 * A value of the native library. It is released once: when its object is closed and no call uses it, or when the object
 * is unreachable. Later calls fail with {@code ARGUMENT_HANDLE}.
 *
 * <p>Calls are counted, so that closing during a call is safe. Threads count in different cache lines, so that they do
 * not contend.
 */
public final class Handle implements Runnable {
    /** The type of a value, with its number in the native library. */
    public enum Kind {
        KEY(1),
        KEY_SET(2),
        ISSUER(3),
        VERIFIER(4),
        PREPARED(5),
        REMOTE_KEYS(6),
        CLOCK(7);

        private final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    private static final Cleaner CLEANER = Cleaner.create();
    private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle RELEASED;

    static {
        try {
            RELEASED = MethodHandles.lookup().findVarHandle(Handle.class, "released", boolean.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /** Counters at this distance are in different cache lines. */
    private static final int STRIDE = 128 / Integer.BYTES;

    /** A power of two. */
    private static final int PLACES = placesFor(Runtime.getRuntime().availableProcessors());

    private final Kind kind;
    private final long address;
    private final int[] counts = new int[(PLACES + 1) * STRIDE];
    private volatile boolean closed;

    @SuppressWarnings("unused") // through RELEASED
    private boolean released;

    private Handle(Kind kind, long address) {
        this.kind = kind;
        this.address = address;
    }

    /** Takes over the value of a reply for its owner. */
    static Handle of(Kind kind, byte[] reply, Object owner) {
        Handle handle = new Handle(kind, Reply.handle(reply));
        CLEANER.register(owner, handle);
        return handle;
    }

    private static int placesFor(int processors) {
        return Math.min(Integer.highestOneBit(Math.max(processors, 1) * 2 - 1), 64);
    }

    /** Begins a call. Pass the result to {@link #end}. */
    int begin() {
        // The id of a virtual thread is unrelated to the processor, but spreads as well.
        int place = (((int) Thread.currentThread().getId() & (PLACES - 1)) + 1) * STRIDE;
        COUNTS.getAndAdd(counts, place, 1);
        if (closed) {
            end(place);
            throw closedError();
        }
        return place;
    }

    /** Returns the address, which is valid between {@link #begin} and {@link #end}. */
    long address() {
        return address;
    }

    /** Ends a call. */
    void end(int place) {
        COUNTS.getAndAdd(counts, place, -1);
        if (closed) {
            releaseIfUnused();
        }
    }

    /** Closes the handle. The value is released now, or by the last call that uses it. */
    void close() {
        closed = true;
        releaseIfUnused();
    }

    boolean isClosed() {
        return closed;
    }

    /** The object is unreachable, so no call uses it. */
    @Override
    public void run() {
        close();
    }

    private void releaseIfUnused() {
        // A call that began before the handle was closed is counted until it ends.
        for (int place = STRIDE; place < counts.length; place += STRIDE) {
            if ((int) COUNTS.getVolatile(counts, place) != 0) {
                return;
            }
        }
        if (RELEASED.compareAndSet(this, false, true)) {
            Native.release(kind.number, address);
        }
    }

    private static JetonException closedError() {
        return new JetonException(ErrorCode.ARGUMENT_HANDLE, "the object is closed");
    }
}
