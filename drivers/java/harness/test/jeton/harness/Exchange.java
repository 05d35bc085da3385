package jeton.harness;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.json.JSONObject;

/** One session that gets its requests line by line, as from the lab. */
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
    Tests.require(answer.indexOf('\n') == answer.length() - 1, "expected one line: " + answer);
    return new JSONObject(answer);
  }

  /** Sends a request that must succeed. */
  JSONObject require(JSONObject request) throws Exception {
    JSONObject answer = ask(request);
    Tests.require(answer.getBoolean("ok"), request.optString("op") + " answered " + answer);
    return answer;
  }

  String token(int index) throws Exception {
    return require(new JSONObject().put("op", "token").put("index", index)).getString("token");
  }

  JSONObject verify(String token) throws Exception {
    return require(new JSONObject().put("op", "verify").put("token", token));
  }

  JSONObject run(int iterations, int threads, boolean count) throws Exception {
    JSONObject request = new JSONObject().put("op", "run").put("iterations", iterations);
    return require(request.put("threads", threads).put("count", count));
  }
}
