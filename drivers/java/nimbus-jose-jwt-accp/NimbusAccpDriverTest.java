import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A provider that does not work is said, and never made up for by the JDK's. */
public final class NimbusAccpDriverTest {
  private static final String HELLO = "{\"op\":\"hello\",\"protocol\":1}\n";

  private NimbusAccpDriverTest() {}

  public static void main(String[] arguments) throws Exception {
    demand(answer().contains("\"ok\":true"), "hello is refused where the provider works: " + answer());
    // The provider then takes no library from its jar, and there is none elsewhere.
    String without = answer("-Dcom.amazon.corretto.crypto.provider.useExternalLib=true");
    demand(
        without.contains("\"ok\":false") && without.contains("native library"),
        "hello is answered without the provider's native library: " + without);
    System.err.println("NimbusAccpDriverTest: passed");
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
    demand(driver.waitFor(20, TimeUnit.SECONDS), "the driver does not end");
    return answer;
  }

  private static void demand(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
