import java.math.BigInteger;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import org.forgerock.json.jose.builders.JwtBuilderFactory;
import org.forgerock.json.jose.jwk.EcJWK;
import org.forgerock.json.jose.jws.JwsAlgorithm;
import org.forgerock.json.jose.jws.SignedJwt;
import org.forgerock.json.jose.jws.SigningManager;
import org.forgerock.util.encode.Base64url;

/**
 * Tests that the library still has the error for which the driver makes EC keys itself. When this
 * fails, the driver can offer the loading of every EC key.
 */
public final class JsonWebTokenDriverTest {
  private static final JwtBuilderFactory FACTORY = new JwtBuilderFactory();
  private static final SigningManager SIGNING = new SigningManager();

  private JsonWebTokenDriverTest() {}

  public static void main(String[] arguments) throws Exception {
    require(!verifiesWithItsJwk(true), "a JWK whose coordinate begins with the bit 1 is read right");
    require(verifiesWithItsJwk(false), "a JWK whose coordinates begin with the bit 0 is read wrong");
    System.err.println("JsonWebTokenDriverTest: 2 tests passed, 0 failed");
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

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
