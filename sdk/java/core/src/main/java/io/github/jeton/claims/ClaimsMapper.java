package io.github.jeton.claims;

import java.io.OutputStream;
import java.lang.reflect.Type;

/**
 * Converts claims to JSON and back. The default is {@link StrictJackson} if the program has Jackson 2, and {@link
 * StrictJackson3} if it has Jackson 3. Implement it for other JSON libraries. Maps need none.
 */
public interface ClaimsMapper {
    /**
     * Writes claims as one JSON object in UTF-8.
     *
     * @throws java.io.IOException if they cannot be written
     */
    void write(Object claims, OutputStream to) throws java.io.IOException;

    /**
     * Reads claims from UTF-8. The JSON is valid, has no duplicate members, and includes the registered claims. The
     * array does not change, and an implementation must not change it.
     *
     * @throws java.io.IOException if the JSON does not match the type
     */
    Object read(byte[] json, int start, int length, Type type) throws java.io.IOException;
}
