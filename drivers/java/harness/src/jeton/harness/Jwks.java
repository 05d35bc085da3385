package jeton.harness;

import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPrivateKeySpec;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAPrivateCrtKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import org.json.JSONObject;

/** JWKs as keys of the JDK, for a library that reads no JWK. */
public final class Jwks {
  /** What is before the 32 bytes of an Ed25519 key in PKCS#8 and in SPKI (RFC 8410). */
  private static final String ED25519_PRIVATE = "302e020100300506032b657004220420";

  private static final String ED25519_PUBLIC = "302a300506032b6570032100";

  private Jwks() {}

  /** Returns the bytes of a symmetric key. */
  public static byte[] secret(String jwk) {
    return bytes(new JSONObject(jwk), "k");
  }

  /** Returns an RSA, EC or Ed25519 private key. */
  public static PrivateKey privateKey(String text) throws GeneralSecurityException {
    JSONObject jwk = new JSONObject(text);
    if (jwk.getString("kty").equals("EC")) {
      var key = new ECPrivateKeySpec(number(jwk, "d"), curve(jwk));
      return KeyFactory.getInstance("EC").generatePrivate(key);
    }
    if (jwk.getString("kty").equals("OKP")) {
      byte[] key = HexFormat.of().parseHex(ED25519_PRIVATE + hex(jwk, "d"));
      return KeyFactory.getInstance("Ed25519").generatePrivate(new PKCS8EncodedKeySpec(key));
    }
    return KeyFactory.getInstance("RSA")
        .generatePrivate(
            new RSAPrivateCrtKeySpec(
                number(jwk, "n"),
                number(jwk, "e"),
                number(jwk, "d"),
                number(jwk, "p"),
                number(jwk, "q"),
                number(jwk, "dp"),
                number(jwk, "dq"),
                number(jwk, "qi")));
  }

  /** Returns an RSA, EC or Ed25519 public key. */
  public static PublicKey publicKey(String text) throws GeneralSecurityException {
    JSONObject jwk = new JSONObject(text);
    if (jwk.getString("kty").equals("EC")) {
      ECPoint point = new ECPoint(number(jwk, "x"), number(jwk, "y"));
      return KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(point, curve(jwk)));
    }
    if (jwk.getString("kty").equals("OKP")) {
      byte[] key = HexFormat.of().parseHex(ED25519_PUBLIC + hex(jwk, "x"));
      return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(key));
    }
    return KeyFactory.getInstance("RSA")
        .generatePublic(new RSAPublicKeySpec(number(jwk, "n"), number(jwk, "e")));
  }

  private static ECParameterSpec curve(JSONObject jwk) throws GeneralSecurityException {
    String name = "secp" + jwk.getString("crv").substring(2) + "r1";
    AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
    parameters.init(new ECGenParameterSpec(name));
    return parameters.getParameterSpec(ECParameterSpec.class);
  }

  private static String hex(JSONObject jwk, String member) {
    return HexFormat.of().formatHex(bytes(jwk, member));
  }

  private static BigInteger number(JSONObject jwk, String member) {
    return new BigInteger(1, bytes(jwk, member));
  }

  private static byte[] bytes(JSONObject jwk, String member) {
    try {
      return Base64.getUrlDecoder().decode(jwk.getString(member));
    } catch (IllegalArgumentException | org.json.JSONException unreadable) {
      throw DriverException.invalid("the key has no readable `" + member + "`");
    }
  }
}
