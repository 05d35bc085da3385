package io.github.jeton;

import io.github.jeton.internal.Calls;
import io.github.jeton.internal.Handle;
import io.github.jeton.internal.NativeObject;
import io.github.jeton.internal.SettingNames;
import io.github.jeton.internal.Settings;
import io.github.jeton.internal.Text;
import java.util.List;
import java.util.stream.Stream;

/** A set of keys with the same use: for verification, for decryption, or for PASETO. It is immutable. */
public final class KeySet extends NativeObject {
    private KeySet(byte[] reply) {
        super(Handle.Kind.KEY_SET, reply);
    }

    /** Creates a set. A private signing key is added as its public key. */
    public static KeySet of(List<Key> keys) {
        return new KeySet(Calls.newKeySet(List.copyOf(Text.required(keys, "keys"))));
    }

    /** Creates a set. A private signing key is added as its public key. */
    public static KeySet of(Key... keys) {
        for (Key key : Text.required(keys, "keys")) {
            Text.required(key, "key");
        }
        return of(List.of(keys));
    }

    /** Imports a JWK Set, or PASERKs with one per line. {@link #skipped} lists the unusable keys. */
    public static KeySet parse(String text) {
        return new KeySet(Calls.importKeySet(text, new Settings(SettingNames.KEY_SET)));
    }

    /** As {@link #parse(String)}, with an algorithm for keys that do not name one. */
    public static KeySet parse(String text, Algorithm defaultAlgorithm) {
        return new KeySet(Calls.importKeySet(text, withDefault(defaultAlgorithm)));
    }

    /** Imports a JWK Set of another party. Skips secret and private keys. */
    public static KeySet parsePublished(String text) {
        return new KeySet(Calls.importKeySet(text, new Settings(SettingNames.KEY_SET).flag("published")));
    }

    /** As {@link #parsePublished(String)}, with an algorithm for keys that do not name one. */
    public static KeySet parsePublished(String text, Algorithm defaultAlgorithm) {
        return new KeySet(Calls.importKeySet(text, withDefault(defaultAlgorithm).flag("published")));
    }

    private static Settings withDefault(Algorithm algorithm) {
        String name = Text.required(algorithm, "defaultAlgorithm").standardName();
        return new Settings(SettingNames.KEY_SET).text("default_alg", name);
    }

    /** Returns the public keys as a JWK Set, to publish. */
    public String toJwks() {
        return Calls.exportKeySet(this, "jwks");
    }

    /** Returns the ids of the keys, with an empty text for a key without an id. */
    public List<String> keyIds() {
        return List.of(Calls.exportKeySet(this, "ids").split("\n", -1));
    }

    /** Returns why keys were skipped when the set was read. */
    public List<String> skipped() {
        return Stream.of(Calls.exportKeySet(this, "skipped").split("\n"))
                .filter(line -> !line.isEmpty())
                .toList();
    }
}
