import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import org.forgerock.json.jose.builders.JwtBuilderFactory;
import org.forgerock.json.jose.exceptions.JweDecryptionException;
import org.forgerock.json.jose.jwe.EncryptionMethod;
import org.forgerock.json.jose.jwe.JweAlgorithm;
import org.forgerock.json.jose.jwe.handlers.encryption.RSAEncryptionHandler;
import org.forgerock.json.jose.jwk.EcJWK;
import org.forgerock.json.jose.jws.JwsAlgorithm;
import org.forgerock.json.jose.jws.SignedJwt;
import org.forgerock.json.jose.jws.SigningManager;
import org.forgerock.util.encode.Base64url;

/**
 * Tests that the library still has errors that no attack of the lab shows. When the first test
 * fails, the driver can offer to load every EC key.
 */
public final class JsonWebTokenDriverTest {
  private static final JwtBuilderFactory FACTORY = new JwtBuilderFactory();
  private static final SigningManager SIGNING = new SigningManager();
  private static final int INFLATED = 1 << 20;

  private JsonWebTokenDriverTest() {}

  public static void main(String[] arguments) throws Exception {
    require(!verifiesWithItsJwk(true), "a JWK whose coordinate begins with the bit 1 is read right");
    require(verifiesWithItsJwk(false), "a JWK whose coordinates begin with 0 is read wrong");
    require(inflatesUnsigned(), "a JWS with zip is not inflated before its signature is verified");
    require(reportsPadding(), "a wrong RSA1_5 padding gives a random content encryption key");
    System.err.println("JsonWebTokenDriverTest: 4 tests passed, 0 failed");
  }

  /** Returns whether the key that the library reads from a JWK verifies a token of the same pair. */
  private static boolean verifiesWithItsJwk(boolean firstBit) throws Exception {
    KeyPair pair = pair(firstBit);
    ECPublicKey open = (ECPublicKey) pair.getPublic();
    String jwk =
        String.format(
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}",
            text(open.getW().getAffineX()), text(open.getW().getAffineY()));
    var signer = SIGNING.newEcdsaSigningHandler((ECPrivateKey) pair.getPrivate());
    String token = FACTORY.jws(signer).headers().alg(JwsAlgorithm.ES256).done().build();
    var verifier = SIGNING.newEcdsaVerificationHandler(EcJWK.parse(jwk).toECPublicKey());
    return FACTORY.reconstruct(token, SignedJwt.class).verify(verifier);
  }

  /** Returns a key pair of P-256 with a coordinate that begins with the bit 1, or with none. */
  private static KeyPair pair(boolean firstBit) throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    while (true) {
      KeyPair pair = generator.generateKeyPair();
      var point = ((ECPublicKey) pair.getPublic()).getW();
      boolean hasIt = point.getAffineX().testBit(255) || point.getAffineY().testBit(255);
      if (hasIt == firstBit) {
        return pair;
      }
    }
  }

  private static String text(BigInteger coordinate) {
    byte[] bytes = coordinate.toByteArray();
    byte[] padded = new byte[32];
    int size = Math.min(bytes.length, 32);
    System.arraycopy(bytes, bytes.length - size, padded, 32 - size, size);
    return Base64url.encode(padded);
  }

  /** Returns whether a token without a valid signature is inflated, without a limit, when it is parsed. */
  private static boolean inflatesUnsigned() throws IOException {
    String claims = "{\"x\":\"" + "x".repeat(INFLATED) + "\"}";
    var packed = new ByteArrayOutputStream();
    try (var deflate = new DeflaterOutputStream(packed, new Deflater(9, true))) {
      deflate.write(claims.getBytes(StandardCharsets.UTF_8));
    }
    byte[] header = "{\"alg\":\"HS256\",\"zip\":\"DEF\"}".getBytes(StandardCharsets.UTF_8);
    String token = Base64url.encode(header) + "." + Base64url.encode(packed.toByteArray()) + ".AAAA";
    SignedJwt parsed = FACTORY.reconstruct(token, SignedJwt.class);
    return parsed.getClaimsSet().get("x").asString().length() == INFLATED;
  }

  /**
   * Returns whether a wrong padding ends the decryption before the content is authenticated, so that
   * its time tells an attacker. RFC 7516, section 11.5, requires a random key instead.
   */
  private static boolean reportsPadding() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    var handler =
        new RSAEncryptionHandler(EncryptionMethod.A256GCM, JweAlgorithm.RSAES_PKCS1_V1_5);
    byte[] unpadded = new byte[256];
    unpadded[255] = 1; // 1 to any power is 1, which has no padding
    try {
      handler.decryptContentEncryptionKey(generator.generateKeyPair().getPrivate(), unpadded);
      return false;
    } catch (JweDecryptionException expected) {
      return true;
    }
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
