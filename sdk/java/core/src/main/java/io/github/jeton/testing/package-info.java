/** For tests of programs that use this library: a clock, and an issuer without a network. */
package io.github.jeton.testing;
