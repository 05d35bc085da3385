/** Conversion of claims to JSON and back. */
package io.github.jeton.claims;
