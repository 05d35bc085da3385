package jeton.harness;

import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.TreeMap;

/** Runs all tests: those of the harness, and those of the given driver class. */
public final class Tests {
  private Tests() {}

  interface Test {
    void run() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Test> tests = new TreeMap<>(new HarnessTest().tests());
    tests.putAll(new DriverTest(driver(arguments[0])).tests());
    int failed = 0;
    for (var test : tests.entrySet()) {
      try {
        test.getValue().run();
      } catch (Exception | AssertionError failure) {
        failed++;
        System.err.println("FAILED " + test.getKey() + ": " + failure);
      }
    }
    System.err.println(arguments[0] + ": " + (tests.size() - failed) + " tests passed, " + failed + " failed");
    System.exit(failed == 0 ? 0 : 1);
  }

  static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  private static Driver driver(String name)
      throws ReflectiveOperationException, InvocationTargetException {
    return (Driver) Class.forName(name).getDeclaredConstructor().newInstance();
  }
}
