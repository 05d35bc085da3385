package jeton.harness;

import static jeton.harness.Tests.require;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.json.JSONArray;
import org.json.JSONObject;

/** Tests the protocol with a fake library. */
final class HarnessTest {
  private static final Set<String> ALL =
      Set.of("sign", "verify", "verify-signature", "round-trip", "generate-key", "load-key");

  Map<String, Tests.Test> tests() {
    Map<String, Tests.Test> tests = new LinkedHashMap<>();
    tests.put("harness: hello reports offers", this::hello);
    tests.put("harness: invalid requests get an error answer", this::badRequests);
    tests.put("harness: checksum matches the protocol", this::checksums);
    tests.put("harness: failing operation ends the run", this::failingRun);
    tests.put("harness: verify exception of the library is a rejection", this::rejection);
    tests.put("harness: claims that JSON cannot express are null", this::wordless);
    tests.put("harness: defaults require no claims", this::defaults);
    tests.put("harness: bytes are counted on every thread", this::counting);
    tests.put("harness: standard claims must match exactly", this::standard);
    return tests;
  }

  /** Tokens end with their index; a token is its own jti; "bad" is rejected, "deep" recurses. */
  private static final class Fake implements Driver {
    @Override
    public String library() {
      return "fake";
    }

    @Override
    public String version() {
      return Driver.linkedVersion("no.such", "artifact");
    }

    @Override
    public List<Offer> offers() {
      return Offer.jwt(ALL, Set.of("jwk"), "HS256");
    }

    @Override
    public Signer sign(Prepare prepare) throws Exception {
      var key = prepare.keyed(prepare::privateKey);
      return index -> key.call().isEmpty() ? "" : "token-" + "ab".charAt(index);
    }

    @Override
    public Check check(Prepare prepare) {
      return token -> {
        rejectBad(token);
        Object value = token;
        for (int depth = 0; token.equals("nested") && depth < 100_000; depth++) {
          value = List.of(value);
        }
        return new Verified.OfMap(Map.of("jti", token.equals("nan") ? Double.NaN : value));
      };
    }

    @Override
    public SignatureCheck signatureCheck(Prepare prepare) {
      return Fake::rejectBad;
    }

    @Override
    public KeyMaker generate(Prepare prepare) {
      return () -> new byte[1000];
    }

    @Override
    public KeyMaker load(Prepare prepare) {
      return () -> prepare.keyText().secret();
    }

    private static void rejectBad(String token) throws Rejection {
      if (token.equals("bad")) {
        throw new Rejection("bad\ntoken");
      }
      if (token.equals("deep")) {
        rejectBad(token);
      }
    }
  }

  private static JSONObject prepare(String operation, String... tokens) {
    JSONObject claims = new JSONObject().put("name", "other");
    claims.put("values", new JSONArray().put(new JSONObject()).put(new JSONObject()));
    JSONObject request = new JSONObject().put("op", "prepare").put("contract", operation);
    request.put("format", "jwt").put("alg", "HS256").put("enc", JSONObject.NULL);
    request.put("key_handling", "prepared").put("claims", claims).put("tokens", tokens);
    request.put("key_text", new JSONObject().put("form", "jwk").put("private", "{}"));
    return request.put(
        "keys", new JSONObject().put("private", new JSONObject().put("kty", "oct")));
  }

  private void hello() throws Exception {
    JSONObject answer = new Exchange(new Fake()).ask("{\"op\":\"hello\",\"protocol\":1}");
    require(answer.getBoolean("ok") && answer.getString("library").equals("fake"), "" + answer);
    require(answer.getString("version").equals("unknown"), "" + answer);
    JSONObject offer = answer.getJSONArray("offers").getJSONObject(0);
    require(offer.getString("alg").equals("HS256") && offer.isNull("enc"), "" + offer);
  }

  private void badRequests() throws Exception {
    Map<String, String> wrong = new LinkedHashMap<>();
    wrong.put("", "invalid");
    wrong.put("nonsense", "invalid");
    wrong.put("[]", "invalid");
    wrong.put("{\"op\":\"dance\"}", "invalid");
    wrong.put("{\"op\":\"hello\",\"protocol\":2}", "unsupported");
    wrong.put("{\"op\":\"prepare\"}", "unsupported");
    wrong.put("{\"op\":\"token\",\"index\":0}", "invalid");
    wrong.put("{\"op\":\"run\",\"iterations\":1,\"threads\":1}", "invalid");
    wrong.put("x".repeat((8 << 20) + 1), "invalid");
    wrong.put(prepare("sign").put("alg", "ES256").toString(), "unsupported");
    wrong.put(prepare("sign").put("enc", "A128GCM").toString(), "unsupported");
    wrong.put(prepare("sign").put("keys", new JSONObject()).toString(), "invalid");
    for (var line : wrong.entrySet()) {
      Exchange exchange = new Exchange(new Fake());
      JSONObject answer = exchange.ask(line.getKey());
      require(line.getValue().equals(answer.optString("error")), "answered " + answer);
      require(exchange.ask("{\"op\":\"hello\",\"protocol\":1}").getBoolean("ok"), "did not survive");
    }
  }

  private void checksums() throws Exception {
    Map<JSONObject, Integer> expected = new LinkedHashMap<>();
    expected.put(prepare("sign"), 2 * (7 + 'a') + 7 + 'b');
    expected.put(prepare("verify", "x", "y"), 2 * 'x' + 'y');
    expected.put(prepare("verify-signature", "x", "y"), 3);
    expected.put(prepare("round-trip"), 2 * (7 + 2 * 'a') + 7 + 2 * 'b');
    expected.put(prepare("generate-key"), 3);
    expected.put(prepare("load-key").put("key_handling", "jwk"), 3);
    for (var one : expected.entrySet()) {
      for (int threads : new int[] {1, 3}) {
        Exchange exchange = new Exchange(new Fake());
        exchange.require(one.getKey());
        JSONObject answer = exchange.run(3, threads, false);
        require(answer.getInt("checksum") == threads * one.getValue(), one.getKey() + ": " + answer);
        require(answer.getLong("elapsed_ns") > 0 && answer.isNull("bytes"), "" + answer);
      }
    }
  }

  private void failingRun() throws Exception {
    for (int threads : new int[] {1, 2}) {
      Exchange exchange = new Exchange(new Fake());
      exchange.require(prepare("verify", "good", "bad"));
      JSONObject request = new JSONObject().put("op", "run").put("iterations", 2);
      JSONObject answer = exchange.ask(request.put("threads", threads));
      require(answer.optString("error").equals("failed"), "answered " + answer);
      require(answer.getString("reason").contains("bad token"), "answered " + answer);
    }
  }

  private void rejection() throws Exception {
    Exchange exchange = new Exchange(new Fake());
    exchange.require(prepare("verify"));
    require(exchange.verify("good").getJSONObject("claims").getString("jti").equals("good"), "claims");
    require(!exchange.verify("bad").getBoolean("accepted"), "accepted a bad token");
    require(!exchange.verify("deep").getBoolean("accepted"), "accepted a token that overflowed the stack");
  }

  private void wordless() throws Exception {
    Exchange exchange = new Exchange(new Fake());
    exchange.require(prepare("verify"));
    for (String token : List.of("nan", "nested")) {
      JSONObject answer = exchange.verify(token);
      require(answer.getBoolean("accepted") && answer.isNull("claims"), token);
    }
  }

  private void defaults() {
    JSONObject request = prepare("verify");
    request.put("policy", new JSONObject().put("issuer", "i").put("audience", "a"));
    request.put("claims", new JSONObject().put("values", List.of(Map.of("exp", 1))));
    Prepare documented = new Prepare(request);
    require(documented.issuer.equals("i") && documented.expiryRequired(), "documented");
    Prepare defaults = new Prepare(request.put("practice", "defaults"));
    require(defaults.issuer == null && defaults.audience == null, "a required claim by default");
    require(defaults.knownAudience.equals("a") && !defaults.expiryRequired(), "defaults");
  }

  private void counting() throws Exception {
    Exchange exchange = new Exchange(new Fake());
    exchange.require(prepare("generate-key"));
    for (int threads : new int[] {1, 2}) {
      long bytes = exchange.run(1000, threads, true).getLong("bytes");
      long least = 1000L * 1000 * threads;
      require(bytes >= least && bytes < least * 11 / 10, bytes + " bytes on " + threads);
    }
  }

  private void standard() throws Exception {
    JSONObject value = DriverTest.claims(Driver.Offer.jwt(ALL, Set.of("jwk"), "HS256").get(0), false);
    JSONArray values = new JSONArray().put(value);
    JSONObject request = prepare("sign");
    request.put("claims", new JSONObject().put("name", "standard").put("values", values));
    new Exchange(new Fake()).require(request);
    value.put("extra", 1);
    JSONObject answer = new Exchange(new Fake()).ask(request);
    require(answer.optString("error").equals("invalid"), "answered " + answer);
  }
}
