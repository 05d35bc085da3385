package jeton.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * One library: what it offers, and how it does each operation. An operation that no offer names is
 * never asked for. Whatever the methods give is used by many threads at once.
 */
public interface Driver {
  String PREPARED = "prepared";
  String PARSED_PER_CALL = "parsed-per-call";

  /** The name in every table. */
  String library();

  /** What was linked; see {@link #linkedVersion}. */
  String version();

  List<Offer> offers();

  /** What the driver checks by hand because the library does not, as `jwt:exp`. */
  default List<String> byDriver() {
    return List.of();
  }

  /** Whether {@link Prepare#defaults} makes a difference. */
  default boolean knowsDefaults() {
    return false;
  }

  /** For `sign`, `encrypt` and `round-trip`. */
  Signer sign(Prepare prepare) throws Exception;

  /** For `verify`, `decrypt` and `round-trip`. */
  Check check(Prepare prepare) throws Exception;

  /** For `verify-signature`. */
  default SignatureCheck signatureCheck(Prepare prepare) throws Exception {
    throw DriverException.unsupported(library() + " decodes the claims of whatever it verifies");
  }

  /** For `generate-key`. */
  default KeyMaker generate(Prepare prepare) throws Exception {
    throw DriverException.unsupported(library() + " makes no keys");
  }

  /** For `load-key`: from the text in {@link Prepare#keyText}. */
  default KeyMaker load(Prepare prepare) throws Exception {
    throw DriverException.unsupported(library() + " reads no keys");
  }

  /** Signs or encrypts the claims value of an index. */
  interface Signer {
    String sign(int index) throws Exception;
  }

  /** Verifies or decrypts one token, or throws. */
  interface Check {
    Verified check(String token) throws Exception;
  }

  /** Verifies the signature of one token, or throws. */
  interface SignatureCheck {
    void check(String token) throws Exception;
  }

  /** Gives a key that can be used, or throws. */
  interface KeyMaker {
    Object make() throws Exception;
  }

  /** One line of `hello`. `alg` or `enc` is null where the format has none. */
  record Offer(
      String format,
      String alg,
      String enc,
      Set<String> operations,
      Set<String> keyHandling,
      Set<String> keyText) {

    /** Offers the same operations for each of the JWS algorithms, with keys handled both ways. */
    public static List<Offer> jwt(Set<String> operations, Set<String> keyText, String... algs) {
      List<Offer> offers = new ArrayList<>();
      for (String alg : algs) {
        offers.add(
            new Offer("jwt", alg, null, operations, Set.of(PREPARED, PARSED_PER_CALL), keyText));
      }
      return offers;
    }

    /** Offers the same operations for every pair of key management and content encryption. */
    public static List<Offer> jwe(
        Set<String> operations, Set<String> keyText, List<String> algs, List<String> encs) {
      List<Offer> offers = new ArrayList<>();
      for (String alg : algs) {
        for (String enc : encs) {
          offers.add(
              new Offer("jwe", alg, enc, operations, Set.of(PREPARED, PARSED_PER_CALL), keyText));
        }
      }
      return offers;
    }
  }

  /** The version of a Maven artifact on the class path, as its own jar tells it. */
  static String linkedVersion(String groupId, String artifactId) {
    String path = "/META-INF/maven/" + groupId + "/" + artifactId + "/pom.properties";
    try (var stream = Driver.class.getResourceAsStream(path)) {
      if (stream == null) {
        return "unknown";
      }
      var properties = new java.util.Properties();
      properties.load(stream);
      return properties.getProperty("version", "unknown");
    } catch (java.io.IOException unreadable) {
      return "unknown";
    }
  }
}
