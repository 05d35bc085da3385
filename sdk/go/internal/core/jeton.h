// The C interface of jeton. docs/ffi.md explains ownership, threads, errors and versions.
//
// Written from the source of crates/jeton-ffi by its tests. Do not change it here.

#ifndef JETON_H
#define JETON_H

#include <stddef.h>
#include <stdint.h>
#include "jeton_codes.h"

// The number of registered claims.
#define JETON_CLAIMS_MAX 7

// The size of a message with the zero byte at its end.
#define JETON_MESSAGE_BYTES 248

// The version of this header. It changes if a program that was built with an older header cannot use the library.
#define JETON_ABI_VERSION 1

// A clock that stands still until it is set. For tests: pass it to `jeton_issuer_new` and `jeton_verifier_new`.
typedef struct JetonClock JetonClock;

// Issues tokens with its key and its settings.
typedef struct JetonIssuer JetonIssuer;

// A key with its algorithm and its id: secret, private or public.
typedef struct JetonKey JetonKey;

// Several keys of one use: keys that verify, keys that decrypt, or keys of PASETO.
typedef struct JetonKeySet JetonKeySet;

// A token without its signature.
typedef struct JetonPrepared JetonPrepared;

// A key set that the program fetches from an address.
typedef struct JetonRemoteKeys JetonRemoteKeys;

// Verifies tokens with its keys and its policy.
typedef struct JetonVerifier JetonVerifier;

// What a function returns: 0, or the number of an error code. `jeton_codes.h` has a name for each.
typedef int32_t JetonCode;

// Memory of the library with a result. Free it with `jeton_buffer_free`, and change no member.
typedef struct {
  // The bytes of the result. A text is UTF-8 without a zero byte at its end.
  uint8_t *data;
  // The number of bytes of the result.
  size_t length;
  // The number of bytes that were allocated.
  size_t capacity;
} JetonBuffer;

// Why a function failed. The caller allocates it. A function writes it only if it fails.
//
// The message is English text for people. It has no byte of a token, a key or a claim.
typedef struct {
  // The code that the function returned. `jeton_code_name` returns its name.
  JetonCode code;
  // The length of the message without the zero byte at its end.
  uint32_t message_length;
  // UTF-8 with a zero byte at its end. A longer message is cut.
  uint8_t message[JETON_MESSAGE_BYTES];
} JetonReason;

// A part of the buffer.
typedef struct {
  // The first byte.
  uint32_t start;
  // The number of bytes.
  uint32_t length;
} JetonRange;

// Where a registered claim is in the JSON text.
typedef struct {
  // Which claim: its bit in `JetonVerified.present`.
  uint32_t claim;
  // 1 if the value has no backslash: then a text is the bytes between its quotes. Else 0.
  uint32_t is_plain;
  // The whole member: the name, the colon and the value.
  JetonRange member;
  // The value as it is written; of a text with its quotes.
  JetonRange value;
} JetonClaim;

// What a verified token says. All ranges are in the buffer that was passed.
typedef struct {
  // Which members the token has. Bits: 1 `iss`, 2 `sub`, 4 `aud`, 8 `exp`, 16 `nbf`, 32 `iat`, 64 `jti`, 256 `kid`,
  // 512 `typ`, 1024 footer.
  uint32_t present;
  // The number of registered claims.
  uint32_t claim_count;
  // The registered claims, in the order of the text.
  JetonClaim claims[JETON_CLAIMS_MAX];
  // The claims: one JSON object, as the token has it.
  JetonRange json;
  // The key id of the header.
  JetonRange kid;
  // The type of the header.
  JetonRange typ;
  // The footer of a PASETO.
  JetonRange footer;
  // The algorithm. It is part of the library.
  const uint8_t *alg;
  // The number of bytes of `alg`.
  size_t alg_length;
  // `exp` in seconds since 1970: the first second in which the token is not valid.
  int64_t expires_at;
  // `nbf` in seconds since 1970.
  int64_t not_before;
  // `iat` in seconds since 1970.
  int64_t issued_at;
} JetonVerified;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Wipes and frees the memory of a buffer, and sets its members to zero. A buffer whose members are zero is ignored, and so
// is a null pointer.
JetonCode jeton_buffer_free(JetonBuffer *buffer);

// Signs or encrypts bytes with an issuer of the format `jws`, `jwe` or `paseto`. The token is in a buffer of the library.
//
// With the option `detached`, the token does not contain the bytes.
JetonCode jeton_issue_bytes(const JetonIssuer *issuer,
                            const uint8_t *data,
                            size_t length,
                            JetonBuffer *out,
                            JetonReason *reason);

// Verifies or decrypts a token of a verifier of the format `jws` or `jwe`. The bytes are in a buffer of the library.
//
// `content` is what a detached JWS signs; null if the token contains it.
JetonCode jeton_verify_bytes(const JetonVerifier *verifier,
                             const uint8_t *token,
                             size_t token_length,
                             const uint8_t *content,
                             size_t content_length,
                             JetonBuffer *out,
                             JetonReason *reason);

// Creates a clock that stands at this time, in seconds since 1970.
JetonCode jeton_clock_new(int64_t seconds, const JetonClock **out, JetonReason *reason);

// Sets a clock, for all issuers and verifiers that have it.
JetonCode jeton_clock_set(const JetonClock *clock, int64_t seconds, JetonReason *reason);

// Returns the name of a code, for example `TOKEN_EXPIRED`, with a zero byte at its end, or null for an unknown number.
// The text is part of the library: do not free it.
const char *jeton_code_name(JetonCode code);

// Adds a reference to a handle of any type. Each reference needs one call of `jeton_release`.
JetonCode jeton_retain(const void *handle, JetonReason *reason);

// Drops a reference to a handle of any type. The last one wipes and frees it. A null pointer is ignored.
JetonCode jeton_release(const void *handle,
                        JetonReason *reason);

#if defined(JETON_TEST_HOOKS)
// Makes the next call of any function panic inside. The function then returns `INTERNAL`.
void jeton_test_panic_next(void);
#endif

// Creates an issuer.
//
// With `encryption`, JWTs are signed and then encrypted to that key. A content key (`dir`) as `key` encrypts JWTs. A
// public key as `key` is for `jeton_prepare`. A null clock is that of the system.
//
// Options: `format` is `jwt`, `jws`, `jwe` or `paseto`. For claims: `issuer`, `audience`, `lifetime` (seconds) or
// `without_expiry`, `issued_ago` (seconds), `access_tokens`. For PASETO: `footer`, `implicit_assertion`. For bytes: `cty`,
// `detached`, `unencoded`, `serialization`. Others: `typ`, `enc`.
JetonCode jeton_issuer_new(const JetonKey *key,
                           const JetonKey *encryption,
                           const JetonClock *clock,
                           const uint8_t *options,
                           size_t options_length,
                           const JetonIssuer **out,
                           JetonReason *reason);

// Returns an upper bound for the length of a token with claims of this length, or 0 if the issuer is for bytes or the
// handle is not valid.
size_t jeton_issue_bound(const JetonIssuer *issuer,
                         size_t claims_length);

// Issues a token with these claims, a JSON object, and writes it to a buffer of the caller, which has at least
// `jeton_issue_bound` bytes. A smaller buffer is the error `BUFFER_TOO_SMALL`, before anything is signed.
JetonCode jeton_issue(const JetonIssuer *issuer,
                      const uint8_t *claims,
                      size_t claims_length,
                      uint8_t *buffer,
                      size_t capacity,
                      size_t *token_length,
                      JetonReason *reason);

// Generates a key for an algorithm: a JWA name, `dir` with the option `enc`, or `v3.local`, `v3.public`, `v4.local`,
// `v4.public`.
//
// Options: `kid`, `rsa_bits`, `crv`, `enc`.
JetonCode jeton_key_generate(const uint8_t *alg,
                             size_t alg_length,
                             const uint8_t *options,
                             size_t options_length,
                             const JetonKey **out,
                             JetonReason *reason);

// Creates a handle of the public key of a private key. A symmetric key has none, which is an error.
JetonCode jeton_key_public(const JetonKey *key, const JetonKey **out, JetonReason *reason);

// Makes one signature with a private key and drops it. The first signature of a process seeds the random generator,
// which takes tens of milliseconds. The first private key that a thread generates or imports does this; call it again
// after `fork`. Other keys do nothing.
JetonCode jeton_key_warm_up(const JetonKey *key,
                            JetonReason *reason);

// Writes what `what` names into a buffer of the library:
//
// - `jwk`, `pem`, `der`, `paserk`: the public key. A private key is exported as its public key; a symmetric key is an error.
// - `thumbprint`, `thumbprint-uri`: RFC 7638 and RFC 9278.
// - `kid`: the id, empty if the key has none; for PASETO the PASERK id. `alg`: the algorithm.
// - `kind`: `symmetric`, `private` or `public`. `alg-kind`: the algorithm, a space, and the kind.
// - `insecure-jwk`, `insecure-pem`, `insecure-der`, `insecure-paserk`: the key with its secret part.
JetonCode jeton_key_export(const JetonKey *key,
                           const uint8_t *what,
                           size_t what_length,
                           JetonBuffer *out,
                           JetonReason *reason);

// Imports a key.
//
// Options: `format` is `any` (JWK, PEM, DER or PASERK, found by its content), `secret`, `secret-base64` or
// `certificate`. `alg` is required if the key does not imply it. `enc` is required for `dir`. `kid` sets the id.
// `password` decrypts PKCS#8 or a PASERK.
JetonCode jeton_key_import(const uint8_t *data,
                           size_t length,
                           const uint8_t *options,
                           size_t options_length,
                           const JetonKey **out,
                           JetonReason *reason);

// Creates a set of these keys, which have the same use: keys that verify, that decrypt, or that open a PASETO. Of a
// private key for signatures, the set has the public key.
JetonCode jeton_key_set_new(const JetonKey *const *keys,
                            size_t count,
                            const JetonKeySet **out,
                            JetonReason *reason);

// Imports a JWK Set, or PASERKs with one in each line. Keys that cannot be used are skipped:
// `jeton_key_set_export` says why. A set without a usable key is an error.
//
// Options: `default_alg` is the algorithm of keys without `alg`. `published` skips secret and private keys, which
// a set that others can read must not have.
JetonCode jeton_key_set_import(const uint8_t *data,
                               size_t length,
                               const uint8_t *options,
                               size_t options_length,
                               const JetonKeySet **out,
                               JetonReason *reason);

// Writes what `what` names into a buffer of the library:
//
// - `jwks`: the public keys as a JWK Set.
// - `ids`: the ids of the keys, one in each line; an empty line for a key without id.
// - `skipped`: why keys were skipped when the set was read, one in each line.
JetonCode jeton_key_set_export(const JetonKeySet *keys,
                               const uint8_t *what,
                               size_t what_length,
                               JetonBuffer *out,
                               JetonReason *reason);

// Prepares a token with an issuer whose key is public: what is to be signed elsewhere. `data` are claims, or the
// bytes of an issuer of the format `jws`.
JetonCode jeton_prepare(const JetonIssuer *issuer,
                        const uint8_t *data,
                        size_t length,
                        const JetonPrepared **out,
                        JetonReason *reason);

// Writes what is to be signed into a buffer of the library. `what` is `message`, or `digest`: the hash of the message for
// signers that take it. `alg` is the algorithm.
JetonCode jeton_prepared_input(const JetonPrepared *prepared,
                               const uint8_t *what,
                               size_t what_length,
                               JetonBuffer *out,
                               JetonReason *reason);

// Adds the signature to a prepared token, verifies it with the public key, and writes the token into a buffer of the
// library. A prepared token takes one signature, valid or not.
//
// `form` is `fixed`, as a token has it, or `der`, as most signers return ECDSA signatures.
JetonCode jeton_attach(const JetonPrepared *prepared,
                       const uint8_t *signature,
                       size_t signature_length,
                       const uint8_t *form,
                       size_t form_length,
                       JetonBuffer *out,
                       JetonReason *reason);

// Creates a key set that is at an address, or at the address that an issuer publishes. It sends no request.
//
// Options: `address`, or `issuer` for discovery. `default_alg` is the algorithm of keys without `alg`.
// `allow_private_addresses` allows an issuer to publish a private address. `fresh_for`, `cooldown` and `usable_for`
// (seconds) are the schedule.
JetonCode jeton_remote_keys_new(const uint8_t *options,
                                size_t options_length,
                                const JetonRemoteKeys **out,
                                JetonReason *reason);

// Returns the next request that the program should send, as JSON in a buffer of the library: `id`, `url`, `etag` (or null),
// `no_cache`, `max_bytes`, `public_only`, `timeout_milliseconds`. The buffer is empty if there is none.
//
// Call it when the program starts, and when a verification returns `KEY_SET_TO_FETCH`. Call it from time to time after
// verifications, too: keys that are not fresh are used, and fetched again.
//
// The program sends `etag` as `If-None-Match`, and `Cache-Control: no-cache` if `no_cache` is true. It follows no redirects. If
// `public_only` is true, it connects to public addresses only.
JetonCode jeton_remote_keys_next(const JetonRemoteKeys *keys,
                                 JetonBuffer *out,
                                 JetonReason *reason);

// Checks that there are keys to verify with. Call it after the requests of `jeton_remote_keys_next`, when the program starts.
// The error is why the last fetch failed, or `KEY_SET_TO_FETCH` if requests wait.
JetonCode jeton_remote_keys_ready(const JetonRemoteKeys *keys,
                                  JetonReason *reason);

// Passes the response to a request. A status of 0 says that there is none. `headers` has one header in each line, as HTTP/1.1
// writes it; `ETag`, `Cache-Control` and `Age` are read.
//
// A response that is no key set is no error here: the next verification returns it. An unknown id is an error.
JetonCode jeton_remote_keys_respond(const JetonRemoteKeys *keys,
                                    uint64_t id,
                                    uint32_t status,
                                    const uint8_t *headers,
                                    size_t headers_length,
                                    const uint8_t *body,
                                    size_t body_length,
                                    JetonReason *reason);

// Creates a verifier.
//
// Pass one key or a key set, and null for the other. `decryption` is a set of keys that decrypt: with it, tokens are signed
// and then encrypted. `remote` is a key set that is elsewhere, in place of the others. A content key (`dir`) alone verifies encrypted JWTs. A null clock is that of the system.
//
// Options: `format` is `jwt`, `jws`, `jwe` or `paseto`. For claims: `issuer` or `any_issuer`, `audience` or `any_audience`,
// `without_expiry`, `typ`, `access_tokens`, `required`, `leeway`, `max_age` (seconds), `cache` (entries). For PASETO:
// `footer`, `implicit_assertion`. Others: `enc`, `serialization`, `limits`.
JetonCode jeton_verifier_new(const JetonKey *key,
                             const JetonKeySet *keys,
                             const JetonKeySet *decryption,
                             const JetonRemoteKeys *remote,
                             const JetonClock *clock,
                             const uint8_t *options,
                             size_t options_length,
                             const JetonVerifier **out,
                             JetonReason *reason);

// Returns the size of a buffer for the result of `jeton_verify`, for a token of this many bytes.
size_t jeton_verify_bound(size_t token_length);

// Verifies a token and writes its claims to a buffer of the caller, which has at least `jeton_verify_bound` bytes.
// A smaller buffer is the error `BUFFER_TOO_SMALL`, before anything is verified.
//
// A token that is no UTF-8 is rejected as malformed.
JetonCode jeton_verify(const JetonVerifier *verifier,
                       const uint8_t *token,
                       size_t token_length,
                       uint8_t *buffer,
                       size_t capacity,
                       JetonVerified *result,
                       JetonReason *reason);

// Returns the version of the interface that the library has. Compare it with `JETON_ABI_VERSION` when the library is
// loaded.
uint32_t jeton_abi_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* JETON_H */
