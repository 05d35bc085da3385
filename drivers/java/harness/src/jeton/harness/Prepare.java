package jeton.harness;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.json.JSONArray;
import org.json.JSONObject;

/** A `prepare` request. */
public final class Prepare {
  public final String operation;
  public final String format;

  /** Null for PASETO, where the format decides. */
  public final String alg;

  /** Null except for a JWE. */
  public final String enc;

  /** `prepared` or `parsed-per-call`; for `load-key` the form of {@link #keyText}. */
  public final String keyHandling;

  /** The claims values of any claims set. Whole numbers are Long. */
  public final List<Map<String, Object>> values;

  /** The same as typed claims, or null if the claims set has no type and stays a map, and for PASETO. */
  public final List<Standard> typed;

  /** The same for PASETO. */
  public final List<StandardPaseto> typedPaseto;

  /**
   * Whether to call the library as the first example of its documentation does, without additional
   * checks. Only `lab attack` uses it; it never affects timings.
   */
  public final boolean defaults;

  /** Null: not checked. */
  public final String issuer;

  /** Null: not checked. */
  public final String audience;

  /** The audience that tokens have, required or not; null if they have none. */
  public final String knownAudience;

  /** Only for `lab attack`: verifiers that cache verified tokens; empty otherwise. */
  public final List<Prepare> cached;

  /** Only for `lab attack`: the issuers of one verifier; empty otherwise. */
  public final List<Prepare> issuers;

  /** Whether this is one of the verifiers in {@link #cached}. */
  public final boolean caches;

  final List<String> tokens;

  private final String privateKey;
  private final String publicKey;
  private final JSONObject keyText;

  Prepare(JSONObject request) {
    operation = text(request, "contract");
    format = text(request, "format");
    alg = text(request, "alg");
    enc = text(request, "enc");
    keyHandling = text(request, "key_handling");
    JSONObject keys = request.optJSONObject("keys", new JSONObject());
    privateKey = isPaseto() ? paserk(keys, "secret") : jwk(keys, "private");
    publicKey =
        isPaseto() ? paserk(keys, "public") : jwk(keys, keys.isNull("public") ? "private" : "public");
    keyText = request.optJSONObject("key_text");
    JSONObject claims = request.optJSONObject("claims", new JSONObject());
    values = objects(claims.optJSONArray("values", new JSONArray()));
    boolean isTyped = "standard".equals(text(claims, "name"));
    typed = isTyped && !isPaseto() ? values.stream().map(Standard::of).toList() : null;
    typedPaseto = isTyped && isPaseto() ? values.stream().map(StandardPaseto::of).toList() : null;
    JSONObject policy = request.optJSONObject("policy", new JSONObject());
    defaults = "defaults".equals(text(request, "practice"));
    knownAudience = nonEmpty(text(policy, "audience"));
    issuer = defaults ? null : nonEmpty(text(policy, "issuer"));
    audience = defaults ? null : knownAudience;
    tokens = new ArrayList<>();
    for (Object token : request.optJSONArray("tokens", new JSONArray())) {
      tokens.add(token.toString());
    }
    caches = request.optBoolean("caches");
    cached = each(request, "cached");
    issuers = each(request, "issuers");
  }

  /** Returns a request with the keys and the policy of each element. */
  private static List<Prepare> each(JSONObject request, String name) {
    List<Prepare> requests = new ArrayList<>();
    for (Object trusted : request.optJSONArray(name, new JSONArray())) {
      JSONObject one = new JSONObject(request.toMap());
      one.remove(name);
      one.put("keys", ((JSONObject) trusted).get("keys")).put("policy", ((JSONObject) trusted).get("policy"));
      requests.add(new Prepare(one.put("caches", name.equals("cached"))));
    }
    return requests;
  }

  /** Returns the private or symmetric key: a JWK as JSON text, or a PASERK for PASETO. */
  public String privateKey() {
    return require(privateKey);
  }

  /** Returns the public key as {@link #privateKey}. In place of it, a symmetric key. */
  public String publicKey() {
    return require(publicKey);
  }

  /** Returns whether the format is PASETO. */
  public boolean isPaseto() {
    return format != null && format.startsWith("v");
  }

  /** Returns the values to sign: typed claims, or maps where the claims set has no type. */
  public List<?> claims() {
    if (typed != null) {
      return typed;
    }
    return typedPaseto != null ? typedPaseto : values;
  }

  /** Returns the text to load a key from. */
  public KeyText keyText() {
    if (keyText == null) {
      throw DriverException.invalid("load-key requires key_text");
    }
    return new KeyText(text(keyText, "form"), text(keyText, "private"), text(keyText, "public"));
  }

  /** A key as text. A half that is not needed is null. */
  public record KeyText(String form, String secret, String open) {}

  /**
   * Returns the function that an operation calls for the result of `load`. It calls `load` once for
   * `prepared`, and in every call for `parsed-per-call`.
   */
  public <K> Callable<K> keyed(Callable<K> load) throws Exception {
    K made = load.call();
    return keyHandling.equals(Driver.PARSED_PER_CALL) ? load : () -> made;
  }

  /**
   * Returns whether a token without `exp` must be rejected. A careful user requires it, so it is
   * false only if the given claims are known to have none.
   */
  public boolean expiryRequired() {
    return !defaults && values.stream().allMatch(value -> value.containsKey("exp"));
  }

  private static String jwk(JSONObject keys, String half) {
    JSONObject jwk = keys.optJSONObject(half);
    return jwk == null ? null : jwk.toString();
  }

  /** Returns a key of a pair, or the key of a `local` format. */
  private static String paserk(JSONObject keys, String half) {
    JSONObject paserk = keys.optJSONObject("paserk", new JSONObject());
    String local = text(paserk, "local");
    return local == null ? text(paserk, half) : local;
  }

  private static String require(String key) {
    if (key == null) {
      throw DriverException.invalid("a key is missing");
    }
    return key;
  }

  private static String text(JSONObject object, String member) {
    Object value = object.opt(member);
    return value instanceof String text ? text : null;
  }

  private static String nonEmpty(String text) {
    return text == null || text.isEmpty() ? null : text;
  }

  private static List<Map<String, Object>> objects(JSONArray array) {
    List<Map<String, Object>> objects = new ArrayList<>();
    for (Object value : array) {
      if (!(value instanceof JSONObject object)) {
        throw DriverException.invalid("a claims value is not a JSON object");
      }
      objects.add(mapOf(object));
    }
    return objects;
  }

  private static Map<String, Object> mapOf(JSONObject object) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (String name : object.keySet()) {
      map.put(name, plain(object.get(name)));
    }
    return map;
  }

  /** Converts a value to plain Java types, so that no library gets a JSON type of another. */
  private static Object plain(Object value) {
    if (value instanceof JSONObject object) {
      return mapOf(object);
    }
    if (value instanceof JSONArray array) {
      List<Object> list = new ArrayList<>();
      array.forEach(item -> list.add(plain(item)));
      return list;
    }
    if (value instanceof Integer || value instanceof Long) {
      return ((Number) value).longValue();
    }
    if (value instanceof BigDecimal number) {
      return number.doubleValue();
    }
    if (value == JSONObject.NULL) {
      return null;
    }
    return value;
  }
}
