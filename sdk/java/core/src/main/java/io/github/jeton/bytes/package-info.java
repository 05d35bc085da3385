/** JWS and JWE of bytes that are no claims. */
package io.github.jeton.bytes;
