package jeton.harness;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.json.JSONObject;

/** Keys for a version and purpose of PASETO, as the lab would send them. The key of `local` has no public half. */
record TestPaserk(String secret, String open) {
  private static final Map<String, TestPaserk> MADE = new HashMap<>();

  /** Returns the same key each time for the same format and number. */
  static TestPaserk of(String format, int number) throws GeneralSecurityException {
    TestPaserk key = MADE.get(format + number);
    if (key == null) {
      key = made(format);
      MADE.put(format + number, key);
    }
    return key;
  }

  private static TestPaserk made(String format) throws GeneralSecurityException {
    String start = "k" + format.charAt(1);
    switch (format) {
      case "v3.local", "v4.local" -> {
        byte[] bytes = new byte[32];
        new SecureRandom().nextBytes(bytes);
        return new TestPaserk(start + ".local." + text(bytes), null);
      }
      case "v3.public" -> {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp384r1"));
        KeyPair pair = generator.generateKeyPair();
        var point = ((ECPublicKey) pair.getPublic()).getW();
        byte[] compressed = new byte[49];
        compressed[0] = (byte) (point.getAffineY().testBit(0) ? 3 : 2);
        System.arraycopy(bytes(point.getAffineX(), 48), 0, compressed, 1, 48);
        byte[] scalar = bytes(((ECPrivateKey) pair.getPrivate()).getS(), 48);
        return new TestPaserk(start + ".secret." + text(scalar), start + ".public." + text(compressed));
      }
      case "v4.public" -> {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        byte[] spki = pair.getPublic().getEncoded();
        byte[] open = Arrays.copyOfRange(spki, spki.length - 32, spki.length);
        byte[] both = Arrays.copyOf(((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow(), 64);
        System.arraycopy(open, 0, both, 32, 32);
        return new TestPaserk(start + ".secret." + text(both), start + ".public." + text(open));
      }
      default -> throw new IllegalArgumentException("no key for " + format);
    }
  }

  /** Returns the member `paserk` of `keys`. */
  JSONObject json(boolean withSecret) {
    if (open == null) {
      return new JSONObject().put("local", secret);
    }
    JSONObject both = new JSONObject().put("public", open);
    return withSecret ? both.put("secret", secret) : both;
  }

  private static byte[] bytes(BigInteger number, int size) {
    byte[] bytes = number.toByteArray();
    byte[] padded = new byte[size];
    int count = Math.min(size, bytes.length);
    System.arraycopy(bytes, bytes.length - count, padded, size - count, count);
    return padded;
  }

  private static String text(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
