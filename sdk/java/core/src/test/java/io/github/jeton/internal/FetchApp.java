package io.github.jeton.internal;

import io.github.jeton.KeySetException;
import io.github.jeton.RemoteKeySet;
import io.github.jeton.Verifier;
import java.util.concurrent.locks.LockSupport;

/** Verifies a token with the keys at an address, and prints {@code ok} or the code of the error. */
final class FetchApp {
    private FetchApp() {}

    public static void main(String[] arguments) {
        RemoteKeySet.Builder keys = RemoteKeySet.at(arguments[0]);
        if (arguments.length > 2 && arguments[2].equals("hanging")) {
            keys.fetcher(request -> {
                while (true) {
                    LockSupport.park();
                }
            });
        }
        System.out.println(result(keys.build(), arguments[1]));
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
