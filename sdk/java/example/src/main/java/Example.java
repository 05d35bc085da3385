import io.github.jeton.Algorithm;
import io.github.jeton.Issuer;
import io.github.jeton.Key;
import io.github.jeton.Verifier;
import java.time.Duration;

/** Issues a token and verifies it. */
public class Example {
    public record Visit(String page) {}

    public static void main(String[] arguments) {
        var key = Key.generate(Algorithm.ES256);
        var issuer = Issuer.builder(key).issuer("https://id.example").audience("api").lifetime(Duration.ofMinutes(15)).build();
        String token = issuer.issue(new Visit("/"));

        var verifier = Verifier.builder(key.publicKey()).issuer("https://id.example").audience("api").build();
        var verified = verifier.verify(token, Visit.class);
        System.out.println("verified: " + verified.claims().page());
    }
}
