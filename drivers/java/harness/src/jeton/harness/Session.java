package jeton.harness;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Speaks the driver protocol (drivers/PROTOCOL.md): one prepared operation at a time. */
public final class Session {
  private static final int PROTOCOL = 1;
  private static final int LINE_BYTES_MAX = 8 << 20;
  private static final int REASON_LENGTH_MAX = 300;
  private static final int THREADS_MAX = 1024;
  private static final long CHECKSUM_END = 1L << 53; // a JSON number is exact below it

  private static final List<String> BOTH_PRACTICES = List.of("defaults", "documented");

  private final Driver driver;
  private Work work;

  /** The verifiers of a `prepare` with `cached`. */
  private final List<Work> verifiers = new ArrayList<>();

  private boolean ended;

  Session(Driver driver) {
    this.driver = driver;
  }

  /** Serves a driver on standard input and output until `bye` or the end of the input. */
  public static void serve(Driver driver) throws IOException {
    PrintStream output = System.out;
    System.setOut(System.err); // output of a library goes to the diagnostics
    new Session(driver).serve(System.in, output);
  }

  void serve(InputStream input, OutputStream output) throws IOException {
    InputStream lines = new BufferedInputStream(input, 1 << 16);
    while (!ended) {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      boolean tooLong = false;
      int next = lines.read();
      if (next < 0) {
        return;
      }
      for (; next >= 0 && next != '\n'; next = lines.read()) {
        tooLong |= line.size() >= LINE_BYTES_MAX;
        if (!tooLong) {
          line.write(next);
        }
      }
      JSONObject answer =
          tooLong
              ? errorAnswer("invalid", "the line is too long")
              : answer(line.toString(StandardCharsets.UTF_8));
      output.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
      output.flush();
    }
  }

  private JSONObject answer(String line) {
    try {
      JSONObject request = request(line);
      return switch (request.optString("op")) {
        case "hello" -> hello(request);
        case "prepare" -> prepare(request);
        case "token" -> ok().put("token", require().token(request.optInt("index", -1)));
        case "verify" -> verify(request);
        case "run" -> run(request);
        case "bye" -> {
          ended = true;
          yield ok();
        }
        default -> throw DriverException.invalid("the op is unknown");
      };
    } catch (DriverException exception) {
      return errorAnswer(exception.kind, exception.getMessage());
    } catch (Exception | LinkageError | StackOverflowError thrown) {
      return errorAnswer("failed", reason(thrown));
    }
  }

  private JSONObject hello(JSONObject request) {
    if (request.optInt("protocol") != PROTOCOL) {
      throw DriverException.unsupported("this driver speaks protocol " + PROTOCOL + " only");
    }
    JSONArray offers = new JSONArray();
    for (Driver.Offer offer : driver.offers()) {
      JSONObject line = new JSONObject().put("format", offer.format());
      line.put("alg", orNull(offer.alg())).put("enc", orNull(offer.enc()));
      line.put("contracts", offer.operations()).put("key_handling", offer.keyHandling());
      if (!offer.keyText().isEmpty()) {
        line.put("key_text", offer.keyText());
      }
      offers.put(line);
    }
    JSONObject answer = ok().put("protocol", PROTOCOL).put("library", driver.library());
    answer.put("version", driver.version()).put("language", "java");
    answer.put("runtime", System.getProperty("java.vm.name") + " " + Runtime.version());
    answer.put("by_driver", driver.byDriver()).put("extras", driver.extras());
    answer.put("practices", driver.knowsDefaults() ? BOTH_PRACTICES : List.of());
    return answer.put("counts", new JSONArray().put("bytes")).put("offers", offers);
  }

  private JSONObject prepare(JSONObject request) throws Exception {
    work = null;
    verifiers.clear();
    Prepare prepare = new Prepare(request);
    if (driver.offers().stream().noneMatch(offer -> matches(offer, prepare))) {
      throw DriverException.unsupported(
          driver.library() + " does not offer " + prepare.operation + " of " + prepare.format + " "
              + Objects.toString(prepare.alg, "") + " " + Objects.toString(prepare.enc, ""));
    }
    work = Work.of(driver, prepare);
    for (Prepare one : prepare.cached) {
      verifiers.add(Work.of(driver, one));
    }
    return ok();
  }

  private static boolean matches(Driver.Offer offer, Prepare prepare) {
    boolean handled =
        switch (String.valueOf(prepare.operation)) {
          case "load-key" -> offer.keyText().contains(prepare.keyText().form());
          case "generate-key" -> true;
          default -> offer.keyHandling().contains(String.valueOf(prepare.keyHandling));
        };
    return handled
        && offer.format().equals(prepare.format)
        && Objects.equals(offer.alg(), prepare.alg)
        && Objects.equals(offer.enc(), prepare.enc)
        && offer.operations().contains(prepare.operation);
  }

  private JSONObject verify(JSONObject request) throws Exception {
    Work ready = verifiers.isEmpty() ? require() : verifiers.get(request.optInt("verifier"));
    String token = request.optString("token", null);
    if (!ready.verifies() || token == null) {
      throw DriverException.invalid("verify needs a token and a prepared verify, decrypt or verify-signature");
    }
    Map<String, Object> claims;
    try {
      claims = ready.verify(token);
    } catch (Exception | LinkageError | StackOverflowError thrown) {
      return ok().put("accepted", false).put("reason", reason(thrown));
    }
    return ok().put("accepted", true).put("claims", written(claims));
  }

  private JSONObject run(JSONObject request) throws Exception {
    long iterations = request.optLong("iterations");
    int threads = request.optInt("threads");
    if (iterations < 1 || threads < 1 || threads > THREADS_MAX) {
      throw DriverException.invalid("run needs 1 or more iterations on 1 to " + THREADS_MAX + " threads");
    }
    Measured done = Measured.of(require(), iterations, threads, request.optBoolean("count"));
    if (done.checksum() < 0 || done.checksum() >= CHECKSUM_END) {
      throw DriverException.invalid("the checksum does not fit a JSON number; ask for fewer iterations");
    }
    JSONObject answer = ok().put("elapsed_ns", done.elapsedNs()).put("checksum", done.checksum());
    return answer.put("bytes", orNull(done.bytes())).put("allocs", JSONObject.NULL);
  }

  private Work require() {
    if (work == null) {
      throw DriverException.invalid("run needs a prepared operation");
    }
    return work;
  }

  private static JSONObject request(String line) {
    try {
      return new JSONObject(line);
    } catch (JSONException wrong) { // without the cause, which may quote a key
      throw DriverException.invalid("the line is not a request");
    }
  }

  private static JSONObject ok() {
    return new JSONObject().put("ok", true);
  }

  private static JSONObject errorAnswer(String kind, String reason) {
    return new JSONObject().put("ok", false).put("error", kind).put("reason", oneLine(reason));
  }

  /** Returns the claims, or null where JSON cannot express them: NaN, too deep nesting. */
  private static Object written(Map<String, Object> claims) {
    try {
      Object object = claims == null ? JSONObject.NULL : new JSONObject(claims);
      return object.toString() == null ? JSONObject.NULL : object;
    } catch (JSONException | StackOverflowError wordless) {
      return JSONObject.NULL;
    }
  }

  private static Object orNull(Object value) {
    return value == null ? JSONObject.NULL : value;
  }

  /** Describes an exception of the library. */
  private static String reason(Throwable thrown) {
    String message = String.valueOf(thrown.getMessage());
    return oneLine(thrown.getClass().getSimpleName() + ": " + message);
  }

  private static String oneLine(String reason) {
    String line = reason.strip().replaceAll("\\s+", " ");
    return line.length() <= REASON_LENGTH_MAX ? line : line.substring(0, REASON_LENGTH_MAX) + "…";
  }
}
