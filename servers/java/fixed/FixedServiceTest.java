import com.nimbusds.jose.KeyLengthException;
import com.nimbusds.jwt.SignedJWT;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.HashSet;
import java.util.Set;
import jwt.services.JwtServiceGrpc;
import jwt.services.JwtServiceGrpc.JwtServiceBlockingStub;
import jwt.services.JwtServiceOuterClass.GenerateJwtRequest;
import jwt.services.JwtServiceOuterClass.GenerateJwtResponse;

/** Tests the server over a real connection; the build runs it with --test. */
final class FixedServiceTest {
  private final Keys keys;
  private final JwtServiceBlockingStub service;

  private FixedServiceTest(Keys keys, JwtServiceBlockingStub service) {
    this.keys = keys;
    this.service = service;
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createTempDirectory("server-");
    Path secret = folder.resolve("hs256");
    Path priv = folder.resolve("es256");
    Path pub = folder.resolve("es256-public");
    byte[] random = new byte[32];
    new SecureRandom().nextBytes(random);
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    KeyPair pair = generator.generateKeyPair();
    Files.write(secret, random);
    Files.writeString(priv, pem("PRIVATE KEY", pair.getPrivate()));
    Files.writeString(pub, pem("PUBLIC KEY", pair.getPublic()));
    Path tooShort = Files.writeString(folder.resolve("short"), "short");

    Keys keys = Keys.load(secret, priv, pub);
    Server server = FixedServer.start(new InetSocketAddress("127.0.0.1", 0), keys, 2);
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext().build();
    FixedServiceTest test = new FixedServiceTest(keys, JwtServiceGrpc.newBlockingStub(channel));
    test.aTokenVerifiesWithTheKeyThatWasGivenAndLivesTwoHours();
    test.aThousandCallsMeetAThousandAddresses();
    test.anAlgorithmThatIsNotKnownIsAnErrorOfThatCall();
    try {
      Keys.load(tooShort, priv, pub);
      throw new AssertionError("a secret that is too short is accepted");
    } catch (KeyLengthException expected) {
      System.err.println("FixedServiceTest: 4 tests passed, 0 failed");
    }
    System.exit(0);
  }

  private GenerateJwtResponse call(String algorithm) {
    return service.generateJwt(GenerateJwtRequest.newBuilder().setAlgorithm(algorithm).build());
  }

  private void aTokenVerifiesWithTheKeyThatWasGivenAndLivesTwoHours() throws Exception {
    for (String algorithm : new String[] {"HS256", "ES256"}) {
      GenerateJwtResponse answer = call(algorithm);
      var claims = keys.of(algorithm).verify(answer.getJwt());
      require(claims.getSubject().equals(answer.getSub()), "the answer's subject is the token's");
      require(answer.getSub().length() == 18, "a subject has 18 characters");
      long lives = claims.getExpirationTime().getTime() - claims.getIssueTime().getTime();
      require(lives == 7200_000, "the lifetime of a token is two hours");
      String kid = SignedJWT.parse(answer.getJwt()).getHeader().getKeyID();
      require(algorithm.equals("ES256") == Keys.KID.equals(kid), "the key of ES256 has a kid");
    }
  }

  private void aThousandCallsMeetAThousandAddresses() {
    Set<String> met = new HashSet<>();
    for (int i = 0; i < FixedService.ADDRESSES; i++) {
      met.add(call("HS256").getSub());
    }
    require(met.size() == FixedService.ADDRESSES, "every address is used");
  }

  private void anAlgorithmThatIsNotKnownIsAnErrorOfThatCall() {
    for (String algorithm : new String[] {"", "none", "HS512", "hs256"}) {
      try {
        call(algorithm);
        throw new AssertionError(algorithm + " returns a token");
      } catch (StatusRuntimeException e) {
        require(e.getStatus().getCode() == Status.Code.INVALID_ARGUMENT, algorithm + ": " + e);
      }
    }
    call("HS256");
  }

  private static String pem(String kind, Key key) {
    String body = Base64.getMimeEncoder().encodeToString(key.getEncoded());
    return "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n";
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError("failed: " + what);
    }
  }
}
