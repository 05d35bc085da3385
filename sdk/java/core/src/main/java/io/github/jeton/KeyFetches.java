package io.github.jeton;

import io.github.jeton.RemoteKeySet.Fetcher;
import io.github.jeton.RemoteKeySet.Request;
import io.github.jeton.RemoteKeySet.Response;
import io.github.jeton.internal.Calls;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Sends the requests of a key set in a separate thread, for all waiting callers. Interrupting a caller ends only its
 * wait.
 */
final class KeyFetches {
    /** Result of the requests. */
    enum Outcome {
        /** No request was due. */
        NOTHING,
        /** The server responded to all requests. */
        RESPONDED,
        /** The server did not respond. */
        FAILED
    }

    /** The requests of one fetch: three discovery addresses, the set, and a call that finds no more. */
    private static final int REQUESTS = 5;

    /** How long callers wait beyond the time limit of a request. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private static final Duration FIRST = Duration.ofSeconds(5).plus(GRACE);

    private final RemoteKeySet keys;
    private final Fetcher fetcher;

    /** A lock, because a monitor would pin the carrier of a virtual thread. */
    private final ReentrantLock lock = new ReentrantLock();

    private Round running;
    private boolean closed;

    /** Why the last request had no response, or null. */
    private volatile Throwable lastFailure;

    KeyFetches(RemoteKeySet keys, Fetcher fetcher) {
        this.keys = keys;
        this.fetcher = fetcher;
    }

    /**
     * Sends the due requests, or joins the running ones, and waits.
     *
     * @throws KeySetException if the thread is interrupted
     */
    Outcome fetch() {
        lock.lock();
        Round round;
        try {
            round = next();
        } finally {
            lock.unlock();
        }
        if (round == null) {
            return Outcome.NOTHING;
        }
        start(round);
        return round.await();
    }

    /** Sends the due requests without waiting. Without an executor, it starts a thread. */
    void fetchInBackground(Executor executor) {
        if (!lock.tryLock()) {
            return;
        }
        Round round = null;
        try {
            if (running != null) {
                running.interruptIfLate();
            } else if (!closed) {
                round = next();
            }
        } catch (JetonException failed) {
            // No caller waits for the error.
        } finally {
            lock.unlock();
        }
        if (round == null) {
            return;
        }
        if (executor == null) {
            start(round);
            return;
        }
        try {
            executor.execute(round);
        } catch (RuntimeException rejected) {
            start(round);
        }
    }

    /** Why the last request had no response, or null. */
    Throwable lastFailure() {
        return lastFailure;
    }

    /** Throws an error if the key set is closed. */
    void checkOpen() {
        lock.lock();
        try {
            if (closed) {
                throw closedError();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the running request. Callers that wait for it get an error. */
    void close() {
        lock.lock();
        try {
            closed = true;
            if (running != null) {
                running.done.completeExceptionally(closedError());
                running.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns the running or new requests, or null if none are due. The lock is held. */
    private Round next() {
        if (closed) {
            throw closedError();
        }
        if (running == null) {
            String request = Calls.nextRequest(keys);
            running = request.isEmpty() ? null : new Round(request);
        }
        return running;
    }

    private void start(Round round) {
        if (round.begun.get()) {
            return;
        }
        round.deadline = System.nanoTime() + FIRST.toNanos();
        // It inherits nothing from the caller, because it works for other callers, too.
        Thread thread = new Thread(null, round, "jeton-keys", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(fetcher.getClass().getClassLoader());
        try {
            thread.start();
        } catch (Throwable noThread) {
            if (round.begun.compareAndSet(false, true)) {
                round.end(null, noThread);
            }
        }
    }

    private static JetonException closedError() {
        return new JetonException(ErrorCode.ARGUMENT_HANDLE, "the key set is closed");
    }

    /** Requests that are sent one after another. */
    private final class Round implements Runnable {
        private final CompletableFuture<Outcome> done = new CompletableFuture<>();
        private final AtomicBoolean begun = new AtomicBoolean();
        private final String first;
        private volatile long deadline;

        /** The thread of the fetcher, and whether it must end. The lock is held. */
        private Thread thread;
        private boolean interrupted;

        Round(String first) {
            this.first = first;
        }

        /** An executor may run it late, after a waiting caller has started it. */
        @Override
        public void run() {
            if (begun.compareAndSet(false, true)) {
                try {
                    end(send(), null);
                } catch (Throwable failed) {
                    end(null, failed);
                }
            }
        }

        /** Ends the running request. The lock is held. */
        private void interrupt() {
            interrupted = true;
            if (thread != null) {
                thread.interrupt();
            }
        }

        /** As {@link #interrupt}, for a fetcher that exceeds the time limit. */
        private void interruptIfLate() {
            if (begun.get() && System.nanoTime() - deadline > 0) {
                interrupt();
            }
        }

        private void end(Outcome outcome, Throwable failed) {
            lock.lock();
            try {
                running = null;
            } finally {
                lock.unlock();
            }
            if (failed == null) {
                done.complete(outcome);
            } else {
                done.completeExceptionally(failed);
            }
        }

        private Outcome send() {
            String json = first;
            for (int sent = 1; ; sent++) {
                // After a failure, the schedule decides when to send the next request.
                if (!isAnswered(json)) {
                    return Outcome.FAILED;
                }
                if (sent == REQUESTS) {
                    return Outcome.RESPONDED;
                }
                json = Calls.nextRequest(keys);
                if (json.isEmpty()) {
                    return Outcome.RESPONDED;
                }
            }
        }

        private boolean isAnswered(String json) {
            long id = Request.idOf(json);
            Response response = null;
            Throwable why = null;
            try {
                Request request = Request.of(json);
                deadline = System.nanoTime() + request.timeout().plus(GRACE).toNanos();
                response = fetched(request);
            } catch (Throwable failed) {
                // The schedule waits for a response, even after an unexpected exception.
                why = failed;
            }
            if (response == null || response.status() <= 0) {
                lastFailure = why != null ? why : new IOException("the fetcher returned no response");
                Calls.respond(keys, id, 0, "", new byte[0]);
                return false;
            }
            lastFailure = null;
            Calls.respond(keys, id, response.status(), lines(response), response.body());
            return true;
        }

        private Response fetched(Request request) throws IOException, InterruptedException {
            lock.lock();
            try {
                if (closed) {
                    throw closedError();
                }
                thread = Thread.currentThread();
            } finally {
                lock.unlock();
            }
            try {
                return fetcher.fetch(request);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw interrupted;
            } finally {
                lock.lock();
                try {
                    thread = null;
                    if (interrupted) {
                        // The interrupt was for this request. The thread may belong to an executor.
                        Thread.interrupted();
                    }
                } finally {
                    lock.unlock();
                }
            }
        }

        Outcome await() {
            while (true) {
                long end = deadline;
                try {
                    return done.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (TimeoutException late) {
                    if (end == deadline) {
                        lock.lock();
                        try {
                            interruptIfLate();
                        } finally {
                            lock.unlock();
                        }
                        lastFailure = new IOException("the fetcher did not return in time");
                        return Outcome.FAILED;
                    }
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    throw new KeySetException(
                            ErrorCode.KEY_SET_UNREACHABLE,
                            "the thread was interrupted while it waited for the key set",
                            interrupted);
                } catch (ExecutionException failed) {
                    throw failed.getCause() instanceof JetonException own
                            ? new JetonException(own.code(), own.getMessage(), own)
                            : new JetonException(ErrorCode.INTERNAL, "the key set cannot be fetched", failed.getCause());
                }
            }
        }
    }

    /** Returns the headers as HTTP/1.1 writes them, without headers that it cannot write. */
    private static String lines(Response response) {
        StringBuilder lines = new StringBuilder();
        response.headers().forEach((name, value) -> {
            if ((name + value).chars().allMatch(unit -> unit >= ' ' && unit <= '~')) {
                lines.append(name).append(": ").append(value).append('\n');
            }
        });
        return lines.toString();
    }
}
