/** JWS, JWE and PASETO with bytes instead of claims. */
package io.github.jeton.bytes;
