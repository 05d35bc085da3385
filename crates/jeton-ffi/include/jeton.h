// The C interface of jeton. docs/ffi.md explains ownership, threads, errors and versions.
//
// Written from the source of crates/jeton-ffi by its tests. Do not change it here.

#ifndef JETON_H
#define JETON_H

#include <stddef.h>
#include <stdint.h>
#include "jeton_codes.h"

// The value of `now` for the clock of the issuer or the verifier.
#define JETON_USE_CLOCK INT64_MIN

// The number of registered claims.
#define JETON_CLAIMS_MAX 7

// The maximum size of a message, including the zero byte at its end.
#define JETON_MESSAGE_BYTES 248

// The version of this header. It changes if programs built with an older header cannot use the library.
#define JETON_ABI_VERSION 2

// A clock for tests. Its time changes only when it is set. Pass it to `jeton_issuer_new` and `jeton_verifier_new`.
typedef struct JetonClock JetonClock;

// Issues tokens with its key and its settings.
typedef struct JetonIssuer JetonIssuer;

// A key with its algorithm and its id: secret, private or public.
typedef struct JetonKey JetonKey;

// Several keys with the same use: keys that verify, keys that decrypt, or PASETO keys.
typedef struct JetonKeySet JetonKeySet;

// A token without its signature.
typedef struct JetonPrepared JetonPrepared;

// A key set that the program fetches from an address.
typedef struct JetonRemoteKeys JetonRemoteKeys;

// Verifies tokens with its keys and its policy.
typedef struct JetonVerifier JetonVerifier;

// The result of a function: 0, or the number of an error code. `jeton_codes.h` names the codes.
typedef int32_t JetonCode;

// A result in memory of the library. Free it with `jeton_buffer_free`. Do not change its members.
typedef struct {
  // The bytes of the result. Text is UTF-8 without a terminating zero byte.
  uint8_t *data;
  // The number of bytes of the result.
  size_t length;
  // The number of allocated bytes.
  size_t capacity;
} JetonBuffer;

// Why a function failed. The caller allocates it. A function writes it only if it fails.
//
// The message is English text for people. It contains no byte of a token, a key or a claim.
typedef struct {
  // The code that the function returned. `jeton_code_name` returns its name.
  JetonCode code;
  // The length of the message without the zero byte at its end.
  uint32_t message_length;
  // UTF-8 with a zero byte at its end. A longer message is truncated.
  uint8_t message[JETON_MESSAGE_BYTES];
} JetonReason;

// A part of the buffer.
typedef struct {
  // The offset of the first byte.
  uint32_t start;
  // The number of bytes.
  uint32_t length;
} JetonRange;

// The position of a registered claim in the JSON text.
typedef struct {
  // The bit of the claim in `JetonVerified.present`.
  uint32_t claim;
  // 1 if the value has no backslash: a string is then the bytes between its quotes. Otherwise 0.
  uint32_t is_plain;
  // The whole member: the name, the colon and the value.
  JetonRange member;
  // The value as in the token; a string includes its quotes.
  JetonRange value;
} JetonClaim;

// A verified token. All ranges are in the caller's buffer.
typedef struct {
  // The members that the token has, as bits: 1 `iss`, 2 `sub`, 4 `aud`, 8 `exp`, 16 `nbf`, 32 `iat`, 64 `jti`,
  // 256 `kid`, 512 `typ`, 1024 footer.
  uint32_t present;
  // The number of registered claims.
  uint32_t claim_count;
  // The registered claims, in the order of the JSON text.
  JetonClaim claims[JETON_CLAIMS_MAX];
  // The claims: one JSON object, byte for byte as in the token.
  JetonRange json;
  // The `kid` of the header.
  JetonRange kid;
  // The `typ` of the header.
  JetonRange typ;
  // The footer of a PASETO.
  JetonRange footer;
  // The name of the algorithm. The library owns it: do not free it.
  const uint8_t *alg;
  // The number of bytes of `alg`.
  size_t alg_length;
  // `exp` in seconds since 1970: the first second in which the token is no longer valid.
  int64_t expires_at;
  // `nbf` in seconds since 1970.
  int64_t not_before;
  // `iat` in seconds since 1970.
  int64_t issued_at;
} JetonVerified;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Wipes and frees the memory of a buffer, and sets its members to zero. A null pointer or a zeroed buffer is ignored.
JetonCode jeton_buffer_free(JetonBuffer *buffer);

// Signs or encrypts bytes. The format of the issuer is `jws`, `jwe` or `paseto`. The token is in a buffer of the
// library.
//
// With the option `detached`, the token does not contain the bytes.
JetonCode jeton_issue_bytes(const JetonIssuer *issuer,
                            const uint8_t *data,
                            size_t length,
                            JetonBuffer *out,
                            JetonReason *reason);

// Verifies or decrypts a token. The format of the verifier is `jws` or `jwe`. The bytes are in a buffer of the
// library.
//
// `content` is the detached content of a JWS, or null if the token contains the content.
JetonCode jeton_verify_bytes(const JetonVerifier *verifier,
                             const uint8_t *token,
                             size_t token_length,
                             const uint8_t *content,
                             size_t content_length,
                             JetonBuffer *out,
                             JetonReason *reason);

// Creates a clock with this time, in microseconds since 1970.
JetonCode jeton_clock_new(int64_t microseconds, const JetonClock **out, JetonReason *reason);

// Sets the time of a clock, in microseconds since 1970, for all issuers and verifiers that use it.
JetonCode jeton_clock_set(const JetonClock *clock, int64_t microseconds, JetonReason *reason);

// Returns the name of a code, for example `TOKEN_EXPIRED`, or null for an unknown number. The name ends with a zero
// byte. The library owns it: do not free it.
const char *jeton_code_name(JetonCode code);

#if defined(JETON_TEST_HOOKS)
// Makes the next call of any function panic. That call returns `INTERNAL`.
void jeton_test_panic_next(void);
#endif

// Creates an issuer.
//
// With `encryption`, JWTs are signed and then encrypted to that key. A content key (`dir`) as `key` encrypts JWTs.
// With a public key as `key`, use `jeton_prepare`. A null `clock` is the system clock.
//
// The options are in docs/reference/settings.md, section *Issuer*.
JetonCode jeton_issuer_new(const JetonKey *key,
                           const JetonKey *encryption,
                           const JetonClock *clock,
                           const uint8_t *options,
                           size_t options_length,
                           const JetonIssuer **out,
                           JetonReason *reason);

// Returns an upper bound for the length of a token with claims of this length. It is 0 if the issuer is for bytes or
// the handle is not valid.
size_t jeton_issue_bound(const JetonIssuer *issuer,
                         size_t claims_length);

// Issues a token with these claims, a JSON object, and writes it to the caller's buffer. The buffer needs at least
// `jeton_issue_bound` bytes. For a smaller one, the result is `BUFFER_TOO_SMALL`, and nothing is signed.
//
// `now` is the time in microseconds since 1970, or `JETON_USE_CLOCK` for the clock of the issuer.
JetonCode jeton_issue(const JetonIssuer *issuer,
                      const uint8_t *claims,
                      size_t claims_length,
                      int64_t now,
                      uint8_t *buffer,
                      size_t capacity,
                      size_t *token_length,
                      JetonReason *reason);

// Generates a key for an algorithm: a JWA name, `dir` with the option `enc`, or `v3.local`, `v3.public`, `v4.local`,
// `v4.public`.
//
// The options are in docs/reference/settings.md, section *Generated key*.
JetonCode jeton_key_generate(const uint8_t *alg,
                             size_t alg_length,
                             const uint8_t *options,
                             size_t options_length,
                             const JetonKey **out,
                             JetonReason *reason);

// Creates a handle of the public key of a private key. A symmetric key is an error.
JetonCode jeton_key_public(const JetonKey *key, const JetonKey **out, JetonReason *reason);

// Signs once with a private key and discards the signature. Other keys do nothing.
//
// The first signature of a process seeds the random generator, which takes tens of milliseconds. The first private key
// that a thread generates or imports does this. Call it again after `fork`.
JetonCode jeton_key_warm_up(const JetonKey *key,
                            JetonReason *reason);

// Exports the key, or the property that `what` names, to a buffer of the library:
//
// - `jwk`, `pem`, `der`, `paserk`: the public key, also of a private key. A symmetric key is an error.
// - `thumbprint`, `thumbprint-uri`: RFC 7638 and RFC 9278.
// - `kid`: the key id, or an empty result; for PASETO the PASERK id. `alg`: the algorithm.
// - `kind`: `symmetric`, `private` or `public`. `alg-kind`: the algorithm, a space, and the kind.
// - `insecure-jwk`, `insecure-pem`, `insecure-der`, `insecure-paserk`: the key with its secret part.
JetonCode jeton_key_export(const JetonKey *key,
                           const uint8_t *what,
                           size_t what_length,
                           JetonBuffer *out,
                           JetonReason *reason);

// Imports a key.
//
// The options are in docs/reference/settings.md, section *Imported key*. `alg` is required if the key does not imply
// it, and `enc` is required for `dir`.
JetonCode jeton_key_import(const uint8_t *data,
                           size_t length,
                           const uint8_t *options,
                           size_t options_length,
                           const JetonKey **out,
                           JetonReason *reason);

// Creates a set of keys with the same use: keys that verify, keys that decrypt, or PASETO keys. A private signing key
// is added as its public key.
JetonCode jeton_key_set_new(const JetonKey *const *keys,
                            size_t count,
                            const JetonKeySet **out,
                            JetonReason *reason);

// Imports a JWK Set, or PASERKs, one per line. Unusable keys are skipped: `jeton_key_set_export` returns the reasons.
// A set without a usable key is an error.
//
// The options are in docs/reference/settings.md, section *Imported key set*.
JetonCode jeton_key_set_import(const uint8_t *data,
                               size_t length,
                               const uint8_t *options,
                               size_t options_length,
                               const JetonKeySet **out,
                               JetonReason *reason);

// Exports the set, or the property that `what` names, to a buffer of the library:
//
// - `jwks`: the public keys as a JWK Set.
// - `ids`: the key ids, one per line; an empty line for a key without id.
// - `skipped`: why keys were skipped during the import, one reason per line.
JetonCode jeton_key_set_export(const JetonKeySet *keys,
                               const uint8_t *what,
                               size_t what_length,
                               JetonBuffer *out,
                               JetonReason *reason);

// Prepares a token for a remote signer. The issuer has the public key. `data` is claims, or bytes for the format
// `jws`.
//
// `now` is the time in microseconds since 1970, or `JETON_USE_CLOCK` for the clock of the issuer.
JetonCode jeton_prepare(const JetonIssuer *issuer,
                        const uint8_t *data,
                        size_t length,
                        int64_t now,
                        const JetonPrepared **out,
                        JetonReason *reason);

// Writes the input for the signer to a buffer of the library. `what` is `message`, or `digest` (its hash) for signers
// that take a digest, or `alg` for the algorithm.
JetonCode jeton_prepared_input(const JetonPrepared *prepared,
                               const uint8_t *what,
                               size_t what_length,
                               JetonBuffer *out,
                               JetonReason *reason);

// Adds the signature to a prepared token, verifies it with the public key, and writes the token to a buffer of the
// library. A prepared token takes one signature, valid or not.
//
// `form` is `fixed`, the form in a token, or `der`, which most signers return for ECDSA.
JetonCode jeton_attach(const JetonPrepared *prepared,
                       const uint8_t *signature,
                       size_t signature_length,
                       const uint8_t *form,
                       size_t form_length,
                       JetonBuffer *out,
                       JetonReason *reason);

// Adds a reference to a handle of any type. Each reference needs one call to `jeton_release`.
JetonCode jeton_retain(const void *handle, JetonReason *reason);

// Drops a reference to a handle of any type. The last release wipes and frees the handle. A null pointer is ignored.
JetonCode jeton_release(const void *handle,
                        JetonReason *reason);

// Creates a key set at an address, or at the address that an issuer publishes. It sends no request.
//
// The options are in docs/reference/settings.md, section *Remote key set*.
JetonCode jeton_remote_keys_new(const uint8_t *options,
                                size_t options_length,
                                const JetonRemoteKeys **out,
                                JetonReason *reason);

// Returns the next new request as JSON in a buffer of the library: `id`, `url`, `etag` (or null), `no_cache`,
// `max_bytes`, `public_only`, `timeout_milliseconds`, and the `version` of the library for `User-Agent`. Without a
// request, the buffer is empty.
//
// Call it when the program starts, and when a verification returns `KEY_SET_TO_FETCH`. Also call it regularly after
// verifications: stale keys are still used, and then fetched again.
//
// The program sends `etag` as `If-None-Match`, and `Cache-Control: no-cache` if `no_cache` is true. It sends
// `Accept: application/jwk-set+json, application/json` and `Accept-Encoding: identity`. It must not follow redirects. If
// `public_only` is true, it must connect to public addresses only.
JetonCode jeton_remote_keys_next(const JetonRemoteKeys *keys,
                                 JetonBuffer *out,
                                 JetonReason *reason);

// Checks that keys are available. When the program starts, call it after the requests of `jeton_remote_keys_next`.
//
// It returns the error of the last fetch, or `KEY_SET_TO_FETCH` if requests are pending.
JetonCode jeton_remote_keys_ready(const JetonRemoteKeys *keys,
                                  JetonReason *reason);

// Passes the response to a request. Status 0 means that there is no response. `headers` has one header per line, in
// HTTP/1.1 syntax; `ETag`, `Cache-Control`, `Age` and `Retry-After` are read.
//
// An unknown id is an error. If the response is not a key set, the next verification returns the error.
JetonCode jeton_remote_keys_respond(const JetonRemoteKeys *keys,
                                    uint64_t id,
                                    uint32_t status,
                                    const uint8_t *headers,
                                    size_t headers_length,
                                    const uint8_t *body,
                                    size_t body_length,
                                    JetonReason *reason);

// Reads a compact token without keys. Anyone can write such a token: use the result to select keys, or for logs.
//
// The result is JSON text in a buffer of the library: an object with `format` (`jwt`, `jwe` or `paseto`), `header`
// (an object, or null for a PASETO), `claims` (an object, or null if they are encrypted) and `footer` (the footer of a
// PASETO, or null). The limits are the defaults of a verifier.
JetonCode jeton_unverified(const uint8_t *token,
                           size_t token_length,
                           JetonBuffer *out,
                           JetonReason *reason);

// Creates a verifier.
//
// Pass `key` or `keys`, and null for the other. `decryption` is a set of decryption keys: with it, tokens must be
// signed and then encrypted. `remote` is a remote key set. It replaces all other keys. A content key (`dir`) alone
// verifies encrypted JWTs. A null `clock` is the system clock.
//
// The options are in docs/reference/settings.md, section *Verifier*.
JetonCode jeton_verifier_new(const JetonKey *key,
                             const JetonKeySet *keys,
                             const JetonKeySet *decryption,
                             const JetonRemoteKeys *remote,
                             const JetonClock *clock,
                             const uint8_t *options,
                             size_t options_length,
                             const JetonVerifier **out,
                             JetonReason *reason);

// Returns the buffer size that `jeton_verify` needs for a token of this length.
size_t jeton_verify_bound(size_t token_length);

// Verifies a token and writes its claims to the caller's buffer. The buffer needs at least `jeton_verify_bound` bytes.
// For a smaller one, the result is `BUFFER_TOO_SMALL`, and nothing is verified.
//
// `now` is the time in microseconds since 1970, or `JETON_USE_CLOCK` for the clock of the verifier.
//
// A token that is not UTF-8 is rejected as malformed.
JetonCode jeton_verify(const JetonVerifier *verifier,
                       const uint8_t *token,
                       size_t token_length,
                       int64_t now,
                       uint8_t *buffer,
                       size_t capacity,
                       JetonVerified *result,
                       JetonReason *reason);

// Returns the protected header of a token that `jeton_verify` has accepted, JSON text in a buffer of the library. For a
// nested JWT, it is the header of the signed JWT inside. A PASETO has no header: the text is empty.
//
// The token is not verified again. For other tokens, use `jeton_unverified`.
JetonCode jeton_verified_header(const JetonVerifier *verifier,
                                const uint8_t *token,
                                size_t token_length,
                                JetonBuffer *out,
                                JetonReason *reason);

// Returns the interface version of the library. Compare it with `JETON_ABI_VERSION` when you load the library.
uint32_t jeton_abi_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* JETON_H */
