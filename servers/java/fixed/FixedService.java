import com.nimbusds.jose.JOSEException;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.BadJWTException;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.text.ParseException;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.atomic.AtomicInteger;
import jwt.services.JwtServiceGrpc;
import jwt.services.JwtServiceOuterClass.GenerateJwtRequest;
import jwt.services.JwtServiceOuterClass.GenerateJwtResponse;

/** Signs a token for the next address, verifies it, and returns both. */
final class FixedService extends JwtServiceGrpc.JwtServiceImplBase {
  static final int ADDRESSES = 1000;
  static final int LIFETIME_SECONDS = 7200;

  private final Keys keys;
  private final String[] addresses = new String[ADDRESSES];
  private final AtomicInteger next = new AtomicInteger();

  FixedService(Keys keys) {
    this.keys = keys;
    for (int i = 0; i < ADDRESSES; i++) {
      addresses[i] = String.format("user%04d@mail.test", i);
    }
  }

  @Override
  public void generateJwt(GenerateJwtRequest request, StreamObserver<GenerateJwtResponse> answer) {
    Keys.Pair pair = keys.of(request.getAlgorithm());
    if (pair == null) {
      sendError(answer, Status.INVALID_ARGUMENT, "algorithm must be HS256 or ES256");
      return;
    }
    String sub = addresses[Math.floorMod(next.getAndIncrement(), ADDRESSES)];
    Instant now = Instant.now();
    JWTClaimsSet claims =
        new JWTClaimsSet.Builder()
            .subject(sub)
            .issueTime(Date.from(now))
            .expirationTime(Date.from(now.plusSeconds(LIFETIME_SECONDS)))
            .build();
    String jwt;
    try {
      jwt = pair.sign(claims);
    } catch (JOSEException e) {
      sendError(answer, Status.INTERNAL, "the token could not be signed");
      return;
    }
    if (!isVerified(pair, jwt, sub)) {
      sendError(answer, Status.INTERNAL, "the token could not be verified");
      return;
    }
    answer.onNext(GenerateJwtResponse.newBuilder().setJwt(jwt).setSub(sub).build());
    answer.onCompleted();
  }

  private static boolean isVerified(Keys.Pair pair, String jwt, String sub) {
    try {
      return sub.equals(pair.verify(jwt).getSubject());
    } catch (ParseException | JOSEException | BadJWTException e) {
      return false;
    }
  }

  private static void sendError(StreamObserver<?> answer, Status status, String why) {
    answer.onError(status.withDescription(why).asRuntimeException());
  }
}
