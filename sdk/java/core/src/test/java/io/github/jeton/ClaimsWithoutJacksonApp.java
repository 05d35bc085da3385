package io.github.jeton;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Issues and verifies maps, and one record. {@link ClaimsWithoutJacksonTest} runs it with other class paths. */
final class ClaimsWithoutJacksonApp {
    private ClaimsWithoutJacksonApp() {}

    record Visit(String page) {}

    public static void main(String[] arguments) {
        Key key = Key.generate(Algorithm.HS256);
        Issuer issuer = Issuer.builder(key).lifetime(Duration.ofMinutes(1)).build();
        Verifier verifier = Verifier.builder(key).anyIssuer().anyAudience().build();
        Map<String, Object> claims = new LinkedHashMap<>();
        claims.put("text", "\"\\\u0001é\ud83d\ude00");
        claims.put("whole", 9_007_199_254_740_993L);
        claims.put("large", new BigInteger("123456789012345678901234567890"));
        claims.put("real", new BigDecimal("0.10"));
        claims.put("double", 1.5);
        claims.put("flag", true);
        claims.put("none", null);
        claims.put("list", Arrays.asList(1, "a", null, List.of(), Map.of()));
        claims.put("array", new int[] {1, 2});
        claims.put("inner", Map.of("a", Map.of("b", List.of(1))));
        VerifiedToken verified = verifier.verify(issuer.issue(claims));
        Map<String, Object> found = verified.toMap();
        for (String name : List.of("text", "whole", "large", "real", "flag", "inner")) {
            String wanted = name.equals("inner") ? "{a={b=[1]}}" : String.valueOf(claims.get(name));
            check(String.valueOf(found.get(name)).equals(wanted), name);
        }
        check(found.containsKey("none") && found.get("none") == null, "none");
        check(found.get("list").toString().equals("[1, a, null, [], {}]"), "list");
        check(found.get("array").toString().equals("[1, 2]"), "array");
        check(verifier.verify(issuer.issue(claims), Map.class).claims().get("flag").equals(true), "map");
        System.out.println("maps");
        boolean hasJackson = arguments[0].equals("jackson");
        for (Map<?, ?> wrong : List.of(
                Map.of(1, "a"), Map.of("a", Double.NaN), Map.of("a", "\ud800"), Map.of("a", new char[] {'\ud800'}))) {
            if (hasJackson) {
                // Jackson converts some of them.
                continue;
            }
            try {
                issuer.issue(wrong);
                System.out.println("issued");
            } catch (JetonException refused) {
                check(refused.code().name().startsWith("CLAIMS_"), refused.toString());
            }
        }
        try {
            verifier.verify(issuer.issue(new Visit("/")), Visit.class).claims();
            System.out.println("objects");
        } catch (JetonException refused) {
            System.out.println(refused.code());
        }
    }

    private static void check(boolean isRight, String what) {
        if (!isRight) {
            throw new IllegalStateException(what);
        }
    }
}
