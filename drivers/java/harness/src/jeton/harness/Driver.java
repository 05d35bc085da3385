package jeton.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * One library: what it offers, and how it does each operation. Operations that it does not offer
 * are never requested. The returned objects are used by many threads at once.
 */
public interface Driver {
  String PREPARED = "prepared";
  String PARSED_PER_CALL = "parsed-per-call";

  /** Returns the name in every table. */
  String library();

  /** Returns the linked version; see {@link #linkedVersion}. */
  String version();

  List<Offer> offers();

  /** Returns what the driver checks by hand because the library does not, such as `jwt:exp`. */
  default List<String> byDriver() {
    return List.of();
  }

  /** Returns what {@link #check} supports besides keys and a policy: `cached`, `issuers`. */
  default List<String> extras() {
    return List.of();
  }

  /** Returns whether {@link Prepare#defaults} makes a difference. */
  default boolean knowsDefaults() {
    return false;
  }

  /** For `sign`, `encrypt` and `round-trip`. */
  Signer sign(Prepare prepare) throws Exception;

  /** For `verify`, `decrypt` and `round-trip`. */
  Check check(Prepare prepare) throws Exception;

  /** For `verify-signature`. */
  default SignatureCheck signatureCheck(Prepare prepare) throws Exception {
    throw DriverException.unsupported(library() + " decodes the claims of every token that it verifies");
  }

  /** For `generate-key`. */
  default KeyMaker generate(Prepare prepare) throws Exception {
    throw DriverException.unsupported(library() + " generates no keys");
  }

  /** For `load-key`: loads the text in {@link Prepare#keyText}. */
  default KeyMaker load(Prepare prepare) throws Exception {
    throw DriverException.unsupported(library() + " reads no keys");
  }

  /** Signs or encrypts the claims value at an index. */
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

  /** Returns a key that is ready to use, or throws. */
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

    /** Offers the same operations for each JWS algorithm, with both ways of key handling. */
    public static List<Offer> jwt(Set<String> operations, Set<String> keyText, String... algs) {
      List<Offer> offers = new ArrayList<>();
      for (String alg : algs) {
        offers.add(
            new Offer("jwt", alg, null, operations, Set.of(PREPARED, PARSED_PER_CALL), keyText));
      }
      return offers;
    }

    /** Offers the same operations for each format of PASETO, with both ways of key handling. */
    public static List<Offer> paseto(Set<String> operations, String... formats) {
      List<Offer> offers = new ArrayList<>();
      for (String format : formats) {
        offers.add(
            new Offer(
                format, null, null, operations, Set.of(PREPARED, PARSED_PER_CALL), Set.of("paserk")));
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

  /** Returns the version of a Maven artifact on the class path, read from its jar. */
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
