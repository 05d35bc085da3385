package jeton.harness;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPrivateKey;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.json.JSONObject;

/** Keys for an algorithm, as the lab would send them. A symmetric key has no public half. */
record TestKey(JSONObject secret, JSONObject open, String secretPem, String openPem) {
  private static final Base64.Encoder BASE64URL = Base64.getUrlEncoder().withoutPadding();
  private static final Map<String, TestKey> MADE = new HashMap<>();

  /**
   * Returns the same key each time for the same algorithm and number, because RSA is slow to
   * generate.
   */
  static TestKey of(String alg, String enc, int number) throws GeneralSecurityException {
    boolean pair = !alg.equals("dir") && !alg.startsWith("HS") && !alg.startsWith("A");
    String kind = alg.startsWith("RS") || alg.startsWith("PS") ? "RSA" : alg;
    kind = kind.equals("Ed25519") ? "EdDSA" : kind;
    String name = pair ? kind + number : alg + enc + number;
    TestKey key = MADE.get(name);
    if (key == null) {
      key = pair ? pair(kind) : secret(bytes(alg, enc));
      MADE.put(name, key);
    }
    TestKey made = new TestKey(copy(key.secret), copy(key.open), key.secretPem, key.openPem);
    made.secret.put("alg", alg);
    if (made.open != null) {
      made.open.put("alg", alg);
    }
    return made;
  }

  /** Returns whether the oldest JDK can generate a key. `lab attack` and `lab interop` cover the others. */
  static boolean isPossible(String alg) {
    return !alg.equals("ES256K") && !alg.startsWith("ML-DSA");
  }

  private static JSONObject copy(JSONObject jwk) {
    return jwk == null ? null : new JSONObject(jwk.toString());
  }

  private static int bytes(String alg, String enc) {
    if (alg.startsWith("HS")) {
      return Integer.parseInt(alg.substring(2)) / 8;
    }
    String name = alg.equals("dir") ? enc : alg;
    int bytes = Integer.parseInt(name.substring(1, 4)) / 8;
    return name.contains("CBC") ? 2 * bytes : bytes;
  }

  private static TestKey secret(int size) {
    byte[] bytes = new byte[size];
    new SecureRandom().nextBytes(bytes);
    return new TestKey(new JSONObject().put("kty", "oct").put("k", text(bytes)), null, null, null);
  }

  private static TestKey pair(String kind) throws GeneralSecurityException {
    KeyPair pair;
    JSONObject jwk;
    JSONObject secret = new JSONObject();
    if (kind.equals("RSA")) {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2048);
      pair = generator.generateKeyPair();
      RSAPrivateCrtKey key = (RSAPrivateCrtKey) pair.getPrivate();
      jwk = new JSONObject().put("kty", "RSA").put("n", number(key.getModulus(), 0));
      jwk.put("e", number(key.getPublicExponent(), 0));
      secret.put("d", number(key.getPrivateExponent(), 0)).put("p", number(key.getPrimeP(), 0));
      secret.put("q", number(key.getPrimeQ(), 0)).put("dp", number(key.getPrimeExponentP(), 0));
      secret.put("dq", number(key.getPrimeExponentQ(), 0));
      secret.put("qi", number(key.getCrtCoefficient(), 0));
    } else if (kind.equals("EdDSA")) {
      pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
      byte[] spki = pair.getPublic().getEncoded();
      jwk = new JSONObject().put("kty", "OKP").put("crv", "Ed25519");
      jwk.put("x", text(Arrays.copyOfRange(spki, spki.length - 32, spki.length)));
      secret.put("d", text(((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow()));
    } else {
      int bits = kind.equals("ES384") ? 384 : kind.equals("ES512") ? 521 : 256;
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp" + bits + "r1"));
      pair = generator.generateKeyPair();
      int size = (bits + 7) / 8;
      var point = ((ECPublicKey) pair.getPublic()).getW();
      jwk = new JSONObject().put("kty", "EC").put("crv", "P-" + bits);
      jwk.put("x", number(point.getAffineX(), size)).put("y", number(point.getAffineY(), size));
      secret.put("d", number(((ECPrivateKey) pair.getPrivate()).getS(), size));
    }
    for (String member : jwk.keySet()) {
      secret.put(member, jwk.get(member));
    }
    return new TestKey(
        secret,
        jwk,
        pem("PRIVATE KEY", pair.getPrivate().getEncoded()),
        pem("PUBLIC KEY", pair.getPublic().getEncoded()));
  }

  private static String pem(String label, byte[] der) {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return "-----BEGIN " + label + "-----\n" + body + "\n-----END " + label + "-----\n";
  }

  private static String number(BigInteger number, int size) {
    byte[] bytes = number.toByteArray();
    int skip = bytes.length > 1 && bytes[0] == 0 ? 1 : 0;
    byte[] magnitude = Arrays.copyOfRange(bytes, skip, bytes.length);
    byte[] padded = new byte[Math.max(size, magnitude.length)];
    System.arraycopy(magnitude, 0, padded, padded.length - magnitude.length, magnitude.length);
    return text(padded);
  }

  private static String text(byte[] bytes) {
    return BASE64URL.encodeToString(bytes);
  }
}
