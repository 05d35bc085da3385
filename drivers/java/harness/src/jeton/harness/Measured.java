package jeton.harness;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** What one run cost. `bytes` is null unless requested. */
record Measured(long elapsedNs, long checksum, Long bytes) {
  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  /**
   * Runs the work on every thread. Times from the moment all threads are released until the last
   * one has finished. No collection is forced before the run: a full one also returns memory to the
   * system, and the run would pay for acquiring it again.
   */
  static Measured of(Work work, long iterations, int threads, boolean count) throws Exception {
    return threads == 1 ? onOne(work, iterations, count) : onMany(work, iterations, threads, count);
  }

  private static Measured onOne(Work work, long iterations, boolean count) throws Exception {
    Share share = new Share(work, iterations, count);
    long start = System.nanoTime();
    share.run();
    long elapsed = System.nanoTime() - start;
    return total(elapsed, List.of(share), count);
  }

  private static Measured onMany(Work work, long iterations, int threads, boolean count)
      throws Exception {
    CountDownLatch ready = new CountDownLatch(threads);
    CountDownLatch release = new CountDownLatch(1);
    List<Share> shares = new ArrayList<>();
    List<Thread> started = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Share share = new Share(work, iterations, count);
      shares.add(share);
      Thread thread =
          new Thread(
              () -> {
                ready.countDown();
                try {
                  release.await();
                } catch (InterruptedException never) {
                  return;
                }
                share.run();
              });
      thread.setDaemon(true);
      thread.start();
      started.add(thread);
    }
    ready.await();
    long start = System.nanoTime();
    release.countDown();
    for (Thread thread : started) {
      thread.join();
    }
    long elapsed = System.nanoTime() - start;
    return total(elapsed, shares, count);
  }

  private static Measured total(long elapsed, List<Share> shares, boolean count) throws Exception {
    long checksum = 0;
    long bytes = 0;
    for (Share share : shares) {
      if (share.failure instanceof Exception exception) {
        throw exception;
      }
      if (share.failure instanceof Error error) {
        throw error;
      }
      checksum += share.checksum;
      bytes += share.bytes;
    }
    return new Measured(elapsed, checksum, count ? bytes : null);
  }

  /** The result of one thread. */
  private static final class Share {
    private final Work work;
    private final long iterations;
    private final boolean count;
    private long checksum;
    private long bytes;
    private Throwable failure;

    Share(Work work, long iterations, boolean count) {
      this.work = work;
      this.iterations = iterations;
      this.count = count;
    }

    /** The JVM counts a thread's bytes exactly only if that thread reads its own count. */
    void run() {
      try {
        long id = Thread.currentThread().getId();
        long before = count ? THREADS.getThreadAllocatedBytes(id) : 0;
        checksum = work.run(iterations);
        bytes = count ? THREADS.getThreadAllocatedBytes(id) - before : 0;
      } catch (Throwable thrown) {
        failure = thrown;
      }
    }
  }
}
