import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.text.ParseException;
import java.util.Set;

/**
 * Verifies tokens like a service in Java, with JWKSourceBuilder of Nimbus.
 *
 * <p>Arguments: key set URL, issuer, audience, cache time of the key set in seconds. Reads one token
 * per line. Prints "ok SUBJECT" or "error REASON" for each.
 */
final class Verifier {
  private Verifier() {}

  public static void main(String[] arguments) throws Exception {
    long milliseconds = Long.parseLong(arguments[3]) * 1000;
    var keys =
        JWKSourceBuilder.create(URI.create(arguments[0]).toURL())
            .cache(milliseconds, milliseconds)
            .refreshAheadCache(false)
            .rateLimited(milliseconds / 5)
            .build();
    var processor = new DefaultJWTProcessor<SecurityContext>();
    processor.setJWSKeySelector(new JWSVerificationKeySelector<>(JWSAlgorithm.ES256, keys));
    var exact = new JWTClaimsSet.Builder().issuer(arguments[1]).build();
    processor.setJWTClaimsSetVerifier(
        new DefaultJWTClaimsVerifier<>(arguments[2], exact, Set.of("sub", "exp")));
    var lines = new BufferedReader(new InputStreamReader(System.in));
    for (String token = lines.readLine(); token != null; token = lines.readLine()) {
      try {
        System.out.println("ok " + processor.process(token, null).getSubject());
      } catch (ParseException | BadJOSEException | JOSEException refused) {
        System.out.println("error " + refused);
      }
    }
  }
}
