package io.github.jeton.internal;

import io.github.jeton.KeySetException;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.Verifier;

/** Verifies a token with the keys at an address, and prints {@code ok} or the code of the error. */
final class FetchApp {
    private FetchApp() {}

    public static void main(String[] arguments) {
        System.out.println(result(RemoteKeySet.at(arguments[0]).build(), arguments[1]));
    }

    static String result(RemoteKeySet keys, String token) {
        Verifier verifier = Verifier.builder(keys).issuer("https://id.example").audience("api").build();
        try {
            verifier.verify(token);
            return "ok";
        } catch (KeySetException failed) {
            return failed.code().name();
        }
    }
}
