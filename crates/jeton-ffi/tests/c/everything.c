// Uses every function, with good and with bad input.

#include "check.h"

#define ISSUER "{\"issuer\":\"https://id.example\",\"audience\":\"api\",\"lifetime\":900}"
#define POLICY "{\"issuer\":\"https://id.example\",\"audience\":\"api\"}"

static JetonReason reason;

static const JetonKey *generate(const char *alg, const char *options) {
  const JetonKey *key;
  OK(jeton_key_generate(TEXT(alg), TEXT(options), &key, &reason));
  return key;
}

static void claims(const JetonKey *key, const JetonKey *encryption, const JetonKeySet *decryption,
                   const char *issuer_options, const char *verifier_options) {
  const JetonIssuer *issuer;
  const JetonVerifier *verifier;
  OK(jeton_issuer_new(key, encryption, NULL, TEXT(issuer_options), &issuer, &reason));
  OK(jeton_verifier_new(key, NULL, decryption, NULL, NULL, TEXT(verifier_options), &verifier, &reason));
  const char *text = "{\"sub\":\"user-7\",\"n\":1.10}";
  uint8_t token[4096], payload[8192];
  size_t length;
  CHECK(jeton_issue_bound(issuer, strlen(text)) <= sizeof token);
  OK(jeton_issue(issuer, TEXT(text), JETON_USE_CLOCK, token, sizeof token, &length, &reason));
  CHECK(jeton_verify_bound(length) <= sizeof payload);
  JetonVerified result;
  OK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, sizeof payload, &result, &reason));
  const char *end = "\"n\":1.10}";
  CHECK(!memcmp(payload + result.json.length - strlen(end), end, strlen(end)));
  CHECK(result.expires_at == result.issued_at + 900);
  JetonBuffer header;
  OK(jeton_verified_header(verifier, token, length, &header, &reason));
  CHECK(header.length == 0 ? !memcmp(token, "v", 1) : !memcmp(header.data, "{\"alg\":", 7));
  jeton_buffer_free(&header);
  token[length - 1] ^= 1;
  CHECK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, sizeof payload, &result, &reason) != 0);
  jeton_release(issuer, &reason);
  jeton_release(verifier, &reason);
}

static void keys_and_sets(void) {
  const JetonKey *key = generate("ES256", "{\"kid\":\"a\"}"), *public, *again;
  OK(jeton_key_public(key, &public, &reason));
  OK(jeton_key_warm_up(key, &reason));
  JetonBuffer pem, set_text;
  OK(jeton_key_export(public, TEXT("pem"), &pem, &reason));
  OK(jeton_key_import(pem.data, pem.length, TEXT("{\"kid\":\"a\"}"), &again, &reason));
  const JetonKeySet *set, *read;
  OK(jeton_key_set_new(&again, 1, &set, &reason));
  OK(jeton_key_set_export(set, TEXT("jwks"), &set_text, &reason));
  OK(jeton_key_set_import(set_text.data, set_text.length, TEXT("{\"published\":true}"), &read, &reason));
  jeton_buffer_free(&pem);
  jeton_buffer_free(&set_text);
  OK(jeton_retain(read, &reason));
  const void *all[] = {key, public, again, set, read, read};
  for (size_t at = 0; at < sizeof all / sizeof *all; at++) OK(jeton_release(all[at], &reason));
}

static void bytes(void) {
  const JetonKey *key = generate("EdDSA", "{}");
  const JetonIssuer *issuer;
  const JetonVerifier *verifier;
  OK(jeton_issuer_new(key, NULL, NULL, TEXT("{\"format\":\"jws\",\"detached\":true}"), &issuer, &reason));
  OK(jeton_verifier_new(key, NULL, NULL, NULL, NULL, TEXT("{\"format\":\"jws\"}"), &verifier, &reason));
  JetonBuffer token, payload;
  OK(jeton_issue_bytes(issuer, TEXT("content"), &token, &reason));
  OK(jeton_verify_bytes(verifier, token.data, token.length, TEXT("content"), &payload, &reason));
  CHECK(payload.length == 7 && !memcmp(payload.data, "content", 7));
  jeton_buffer_free(&payload);
  CHECK(jeton_verify_bytes(verifier, token.data, token.length, TEXT("other"), &payload, &reason) == JETON_TOKEN_INVALID_SIGNATURE);
  jeton_buffer_free(&token);
  jeton_release(issuer, NULL);
  jeton_release(verifier, NULL);
  jeton_release(key, NULL);
}

static void unverified(void) {
  JetonBuffer text;
  OK(jeton_unverified(TEXT("eyJhbGciOiJub25lIn0.e30."), &text, &reason));
  const char *expected = "{\"format\":\"jwt\",\"header\":{\"alg\":\"none\"},\"claims\":{},\"footer\":null}";
  CHECK(text.length == strlen(expected) && !memcmp(text.data, expected, text.length));
  jeton_buffer_free(&text);
  CHECK(jeton_unverified(TEXT("e30.e30"), &text, &reason) == JETON_TOKEN_MALFORMED);
}

static void two_steps(void) {
  const JetonKey *key = generate("ES256", "{}"), *public;
  OK(jeton_key_public(key, &public, &reason));
  const JetonIssuer *issuer;
  OK(jeton_issuer_new(public, NULL, NULL, TEXT(ISSUER), &issuer, &reason));
  const JetonPrepared *prepared;
  OK(jeton_prepare(issuer, TEXT("{}"), JETON_USE_CLOCK, &prepared, &reason));
  JetonBuffer digest, token;
  OK(jeton_prepared_input(prepared, TEXT("digest"), &digest, &reason));
  CHECK(digest.length == 32);
  jeton_buffer_free(&digest);
  uint8_t signature[64] = {1};
  CHECK(jeton_attach(prepared, signature, sizeof signature, TEXT("fixed"), &token, &reason) == JETON_SIGNER_SIGNATURE_INVALID);
  CHECK(jeton_attach(prepared, signature, sizeof signature, TEXT("fixed"), &token, &reason) == JETON_PREPARED_TOKEN_USED);
  jeton_release(prepared, NULL);
  jeton_release(issuer, NULL);
  jeton_release(public, NULL);
  jeton_release(key, NULL);
}

static void clocks(void) {
  const JetonClock *clock;
  OK(jeton_clock_new(1800000000000000, &clock, &reason));
  const JetonKey *key = generate("HS256", "{}");
  const JetonIssuer *issuer;
  const JetonVerifier *verifier;
  OK(jeton_issuer_new(key, NULL, clock, TEXT(ISSUER), &issuer, &reason));
  OK(jeton_verifier_new(key, NULL, NULL, NULL, clock, TEXT(POLICY), &verifier, &reason));
  uint8_t token[1024], payload[4096];
  size_t length;
  JetonVerified result;
  OK(jeton_issue(issuer, TEXT("{}"), JETON_USE_CLOCK, token, sizeof token, &length, &reason));
  OK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, sizeof payload, &result, &reason));
  OK(jeton_clock_set(clock, 1800000900000000, &reason));
  CHECK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, sizeof payload, &result, &reason) == JETON_TOKEN_EXPIRED);
  CHECK(!strcmp(jeton_code_name(reason.code), "TOKEN_EXPIRED"));
  OK(jeton_verify(verifier, token, length, 1800000000000000, payload, sizeof payload, &result, &reason));
  CHECK(jeton_verify(verifier, token, length, -1, payload, sizeof payload, &result, &reason) == JETON_CLAIM_RANGE);
  OK(jeton_issue(issuer, TEXT("{}"), 1700000000000000, token, sizeof token, &length, &reason));
  CHECK(jeton_verify(verifier, token, length, 1700000900000000, payload, sizeof payload, &result, &reason) == JETON_TOKEN_EXPIRED);
  CHECK(strlen((const char *)reason.message) == reason.message_length);
  const void *all[] = {clock, key, issuer, verifier};
  for (size_t at = 0; at < 4; at++) jeton_release(all[at], NULL);
}

// A key set that the program fetches. The response here is a text.
static void remote_keys(void) {
  const JetonKey *key = generate("ES256", "{\"kid\":\"a\"}");
  const JetonKeySet *set;
  JetonBuffer jwks, request;
  OK(jeton_key_set_new(&key, 1, &set, &reason));
  OK(jeton_key_set_export(set, TEXT("jwks"), &jwks, &reason));
  const JetonIssuer *issuer;
  OK(jeton_issuer_new(key, NULL, NULL, TEXT(ISSUER), &issuer, &reason));
  const JetonRemoteKeys *remote;
  const JetonVerifier *verifier;
  OK(jeton_remote_keys_new(TEXT("{\"address\":\"https://id.example/jwks.json\"}"), &remote, &reason));
  OK(jeton_verifier_new(NULL, NULL, NULL, remote, NULL, TEXT(POLICY), &verifier, &reason));
  uint8_t token[1024], payload[4096];
  size_t length;
  JetonVerified result;
  OK(jeton_issue(issuer, TEXT("{}"), JETON_USE_CLOCK, token, sizeof token, &length, &reason));
  CHECK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, sizeof payload, &result, &reason) == JETON_KEY_SET_TO_FETCH);
  OK(jeton_remote_keys_next(remote, &request, &reason));
  const char *id = "\"id\":1,";
  char text[1024] = {0};
  CHECK(request.length < sizeof text);
  memcpy(text, request.data, request.length);
  CHECK(strstr(text, id) != NULL && strstr(text, "https://id.example/jwks.json") != NULL);
  jeton_buffer_free(&request);
  OK(jeton_remote_keys_respond(remote, 1, 200, TEXT("Cache-Control: max-age=300"), jwks.data, jwks.length, &reason));
  OK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, sizeof payload, &result, &reason));
  OK(jeton_remote_keys_ready(remote, &reason));
  OK(jeton_remote_keys_next(remote, &request, &reason));
  CHECK(request.length == 0);
  jeton_buffer_free(&request);
  jeton_buffer_free(&jwks);
  const void *all[] = {key, set, issuer, remote, verifier};
  for (size_t at = 0; at < 5; at++) jeton_release(all[at], NULL);
}

void use_everything(void) {
  CHECK(jeton_abi_version() == JETON_ABI_VERSION);
  keys_and_sets();
  const char *algorithms[] = {"HS256", "HS512", "ES256", "ES384", "EdDSA", "RS256", "ML-DSA-44"};
  for (size_t at = 0; at < sizeof algorithms / sizeof *algorithms; at++) {
    // An ML-DSA token is longer than the buffers of this program.
    if (!strncmp(algorithms[at], "ML", 2)) continue;
    const JetonKey *key = generate(algorithms[at], "{}");
    claims(key, NULL, NULL, ISSUER, POLICY);
    jeton_release(key, NULL);
  }
  const char *pasetos[] = {"v3.local", "v3.public", "v4.local", "v4.public"};
  for (size_t at = 0; at < 4; at++) {
    const JetonKey *key = generate(pasetos[at], "{}");
    claims(key, NULL, NULL, "{\"format\":\"paseto\",\"issuer\":\"https://id.example\",\"audience\":\"api\",\"lifetime\":900}",
           "{\"format\":\"paseto\",\"issuer\":\"https://id.example\",\"audience\":\"api\"}");
    jeton_release(key, NULL);
  }
  const JetonKey *signing = generate("EdDSA", "{}"), *private = generate("ECDH-ES+A256KW", "{}"), *public;
  OK(jeton_key_public(private, &public, &reason));
  const JetonKeySet *decryption;
  OK(jeton_key_set_new(&private, 1, &decryption, &reason));
  claims(signing, public, decryption, ISSUER, POLICY);
  const JetonKey *content = generate("dir", "{\"enc\":\"A128GCM\"}");
  claims(content, NULL, NULL, ISSUER, POLICY);
  const void *all[] = {signing, private, public, decryption, content};
  for (size_t at = 0; at < 5; at++) jeton_release(all[at], NULL);
  bytes();
  unverified();
  two_steps();
  clocks();
  remote_keys();
}

void use_bad_input(void) {
  const JetonKey *key;
  CHECK(jeton_key_generate(NULL, 5, NULL, 0, &key, &reason) == JETON_ARGUMENT_NULL);
  CHECK(jeton_key_generate(TEXT("HS256"), NULL, 0, NULL, &reason) == JETON_ARGUMENT_NULL);
  CHECK(jeton_key_generate(TEXT("HS256"), NULL, (size_t)1 << 63, &key, &reason) == JETON_ARGUMENT_LENGTH);
  CHECK(jeton_key_generate(TEXT("\xff"), NULL, 0, &key, &reason) == JETON_ARGUMENT_NOT_UTF8);
  CHECK(jeton_key_generate(TEXT("HS999"), NULL, 0, &key, NULL) == JETON_INVALID_OPTION);
  CHECK(jeton_key_public(NULL, &key, &reason) == JETON_ARGUMENT_NULL);
  CHECK(jeton_release(NULL, &reason) == 0 && jeton_buffer_free(NULL) == 0);
  CHECK(jeton_code_name(0) == NULL && jeton_code_name(-5) == NULL);
  key = generate("HS256", "{}");
  CHECK(jeton_clock_set((const JetonClock *)key, 1, &reason) == JETON_ARGUMENT_HANDLE);
  const JetonVerifier *verifier;
  OK(jeton_verifier_new(key, NULL, NULL, NULL, NULL, TEXT(POLICY), &verifier, &reason));
  size_t length = 10 * 1024 * 1024;
  uint8_t *token = malloc(length), *payload = malloc(jeton_verify_bound(length));
  JetonVerified result;
  memset(token, 'a', length);
  CHECK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, length, &result, &reason) == JETON_BUFFER_TOO_SMALL);
  CHECK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, jeton_verify_bound(length), &result, &reason) == JETON_TOKEN_TOO_LARGE);
  CHECK(jeton_verify(verifier, token, 0, JETON_USE_CLOCK, payload, 2000, &result, &reason) == JETON_TOKEN_MALFORMED);
  CHECK(jeton_verify(verifier, token, 9, JETON_USE_CLOCK, NULL, 2000, &result, &reason) == JETON_ARGUMENT_NULL);
  free(token);
  free(payload);
  jeton_release(verifier, NULL);
#ifdef JETON_TEST_HOOKS
  jeton_test_panic_next();
  CHECK(jeton_key_warm_up(key, &reason) == JETON_INTERNAL);
  OK(jeton_key_warm_up(key, &reason));
#endif
  jeton_release(key, NULL);
}

void repeat_operations(long count) {
  const JetonKey *key = generate("HS256", "{\"kid\":\"k\"}");
  const JetonIssuer *issuer;
  const JetonVerifier *verifier;
  OK(jeton_issuer_new(key, NULL, NULL, TEXT(ISSUER), &issuer, &reason));
  OK(jeton_verifier_new(key, NULL, NULL, NULL, NULL, TEXT(POLICY), &verifier, &reason));
  const JetonIssuer *of_bytes;
  OK(jeton_issuer_new(key, NULL, NULL, TEXT("{\"format\":\"jws\"}"), &of_bytes, &reason));
  uint8_t token[1024], payload[4096];
  size_t length;
  JetonVerified result;
  for (long at = 0; at < count; at += 4) {
    OK(jeton_issue(issuer, TEXT("{\"sub\":\"user-7\"}"), JETON_USE_CLOCK, token, sizeof token, &length, &reason));
    OK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, sizeof payload, &result, &reason));
    token[at % 40] ^= 4;
    CHECK(jeton_verify(verifier, token, length, JETON_USE_CLOCK, payload, sizeof payload, &result, &reason) != 0);
    JetonBuffer bytes;
    OK(jeton_issue_bytes(of_bytes, payload, result.json.length, &bytes, &reason));
    CHECK(jeton_buffer_free(&bytes) == 0);
    if (at % 1000 == 0) {
      const JetonKey *again;
      JetonBuffer jwk;
      OK(jeton_key_export(key, TEXT("insecure-jwk"), &jwk, &reason));
      OK(jeton_key_import(jwk.data, jwk.length, NULL, 0, &again, &reason));
      jeton_buffer_free(&jwk);
      jeton_release(again, NULL);
    }
  }
  const void *all[] = {key, issuer, verifier, of_bytes};
  for (size_t at = 0; at < 4; at++) jeton_release(all[at], NULL);
  printf("%ld operations\n", count);
}
