import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Tests that a provider that does not work is reported, without a fallback to the JDK. */
public final class NimbusAccpDriverTest {
  private static final String HELLO = "{\"op\":\"hello\",\"protocol\":1}\n";

  private NimbusAccpDriverTest() {}

  public static void main(String[] arguments) throws Exception {
    require(answer().contains("\"ok\":true"), "hello fails although the provider works: " + answer());
    // This option makes the provider ignore the library in its jar, and there is no other one.
    String without = answer("-Dcom.amazon.corretto.crypto.provider.useExternalLib=true");
    require(
        without.contains("\"ok\":false") && without.contains("native library"),
        "hello succeeds without the provider's native library: " + without);
    System.err.println("NimbusAccpDriverTest: 1 tests passed, 0 failed");
  }

  private static String answer(String... options) throws Exception {
    var command = new java.util.ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(java.util.List.of(options));
    command.addAll(java.util.List.of("-cp", System.getProperty("java.class.path"), "NimbusAccpDriver"));
    Process driver = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    try (var requests = driver.getOutputStream()) {
      requests.write(HELLO.getBytes(StandardCharsets.UTF_8));
    }
    String answer = new String(driver.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    require(driver.waitFor(60, TimeUnit.SECONDS), "the driver does not end");
    return answer;
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
