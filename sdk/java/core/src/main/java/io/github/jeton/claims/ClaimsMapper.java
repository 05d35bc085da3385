package io.github.jeton.claims;

import java.io.OutputStream;
import java.lang.reflect.Type;

/**
 * Makes JSON of the program's claims, and the other way round. {@link StrictJackson} is used if the program has Jackson; other JSON
 * libraries can implement this.
 */
public interface ClaimsMapper {
    /**
     * Writes claims as one JSON object in UTF-8.
     *
     * @throws java.io.IOException if they cannot be written
     */
    void write(Object claims, OutputStream to) throws java.io.IOException;

    /**
     * Reads claims from UTF-8. The JSON is valid and has no duplicate member. It has the registered claims, too. The array does
     * not change, and an implementation does not change it.
     *
     * @throws java.io.IOException if the JSON does not match the type
     */
    Object read(byte[] json, int start, int length, Type type) throws java.io.IOException;
}
