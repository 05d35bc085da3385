import com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider;
import com.amazon.corretto.crypto.provider.SelfTestStatus;
import java.io.IOException;
import java.security.Provider;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import jeton.harness.Session;

/**
 * The driver of com.nimbusds:nimbus-jose-jwt with the Amazon Corretto Crypto Provider. It makes the
 * same calls as NimbusDriver; AWS-LC does the cryptography.
 *
 * The provider is installed first, as it documents, and passed to each signer, verifier, encrypter
 * and decrypter. An algorithm that it lacks is then an error instead of falling back to the JDK.
 * Algorithms of only the JDK or Tink (EdDSA, AES key wrap, RSA-OAEP with SHA-256) are not offered.
 * `hello` fails if the provider could not load its native library or if its self-tests failed.
 */
public final class NimbusAccpDriver extends NimbusDriver {
  private static Provider healthy;

  public static void main(String[] arguments) throws IOException {
    Session.serve(new NimbusAccpDriver());
  }

  @Override
  public String library() {
    return "nimbus-jose-jwt-accp";
  }

  @Override
  protected Provider provider() {
    return healthy();
  }

  @Override
  public List<Offer> offers() {
    healthy();
    Set<String> signs =
        Set.of("sign", "verify", "verify-signature", "round-trip", "generate-key", "load-key");
    Set<String> seals = Set.of("encrypt", "decrypt", "round-trip", "generate-key", "load-key");
    List<String> encs = List.of("A128GCM", "A192GCM", "A256GCM");
    Set<String> jwk = Set.of("jwk");
    Set<String> jwkOrPem = Set.of("jwk", "pem");
    List<Offer> offers = new ArrayList<>(Offer.jwt(signs, jwk, "HS256", "HS384", "HS512"));
    offers.addAll(
        Offer.jwt(
            signs, jwkOrPem, "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256",
            "ES384", "ES512"));
    offers.addAll(Offer.jwe(seals, jwk, List.of("dir"), encs));
    offers.addAll(Offer.jwe(seals, jwkOrPem, List.of("ECDH-ES"), encs));
    return offers;
  }

  /** Returns the provider, after its self-tests have passed. */
  private static synchronized Provider healthy() {
    if (healthy == null) {
      AmazonCorrettoCryptoProvider accp = AmazonCorrettoCryptoProvider.INSTANCE;
      accp.assertHealthy();
      SelfTestStatus tests = accp.runSelfTests();
      if (tests != SelfTestStatus.PASSED) {
        throw new IllegalStateException(
            "the self-tests of the Amazon Corretto Crypto Provider: " + tests);
      }
      AmazonCorrettoCryptoProvider.install();
      healthy = accp;
    }
    return healthy;
  }
}
