package jeton.harness;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.json.JSONObject;

/** One session, asked line by line as the lab asks. */
final class Exchange {
  private final Session session;

  Exchange(Driver driver) {
    session = new Session(driver);
  }

  JSONObject ask(JSONObject request) throws Exception {
    return ask(request.toString());
  }

  JSONObject ask(String line) throws Exception {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    byte[] input = (line + "\n").getBytes(StandardCharsets.UTF_8);
    session.serve(new ByteArrayInputStream(input), output);
    String answer = output.toString(StandardCharsets.UTF_8);
    Tests.demand(answer.indexOf('\n') == answer.length() - 1, "one line for one line: " + answer);
    return new JSONObject(answer);
  }

  /** Asks for something that must succeed. */
  JSONObject demand(JSONObject request) throws Exception {
    JSONObject answer = ask(request);
    Tests.demand(answer.getBoolean("ok"), request.optString("op") + " answered " + answer);
    return answer;
  }

  String token(int index) throws Exception {
    return demand(new JSONObject().put("op", "token").put("index", index)).getString("token");
  }

  JSONObject verify(String token) throws Exception {
    return demand(new JSONObject().put("op", "verify").put("token", token));
  }

  JSONObject run(int iterations, int threads, boolean count) throws Exception {
    JSONObject request = new JSONObject().put("op", "run").put("iterations", iterations);
    return demand(request.put("threads", threads).put("count", count));
  }
}
