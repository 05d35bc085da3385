// Runs every case of sdk/testdata/cases.jsonl.

#include "json.h"

// The state of a running case.
typedef struct {
  JetonReason reason;
  JetonCode code;
} Call;

static const JetonKey *import_key(Call *call, Json data) {
  size_t length;
  char *text = json_string(json_member(data, "data"), &length);
  Json options = json_member(data, "options");
  const JetonKey *key = NULL;
  call->code = jeton_key_import((const uint8_t *)text, length, (const uint8_t *)options.start,
                                options.length, &key, &call->reason);
  free(text);
  return key;
}

// The base64url of bytes without padding. The caller frees it.
static char *base64url(const uint8_t *bytes, size_t length) {
  const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  char *text = malloc(length / 3 * 4 + 5);
  size_t written = 0;
  for (size_t at = 0; at < length; at += 3) {
    size_t left = length - at < 3 ? length - at : 3;
    unsigned value = (unsigned)bytes[at] << 16;
    if (left > 1) value |= (unsigned)bytes[at + 1] << 8;
    if (left > 2) value |= bytes[at + 2];
    for (size_t part = 0; part <= left; part++) text[written++] = letters[value >> (18 - 6 * part) & 63];
  }
  text[written] = 0;
  return text;
}

// The bytes of base64url. The caller frees them.
static uint8_t *unbase64url(const char *text, size_t *length) {
  const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  uint8_t *bytes = malloc(strlen(text) + 1);
  unsigned value = 0, bits = 0;
  *length = 0;
  for (; *text; text++) {
    value = value << 6 | (unsigned)(strchr(letters, *text) - letters);
    bits += 6;
    if (bits >= 8) bytes[(*length)++] = (uint8_t)(value >> (bits -= 8));
  }
  return bytes;
}

static bool same_text(Json expected, const void *found, size_t length) {
  if (expected.start == NULL) return false;
  size_t expected_length;
  char *text = json_string(expected, &expected_length);
  bool same = expected_length == length && !memcmp(text, found, length);
  free(text);
  return same;
}

// A text in a buffer of the library, which is freed. It is empty if the expected value is missing.
static bool same_buffer(Json expected, JetonBuffer *text) {
  bool same = expected.start == NULL ? text->length == 0 : same_text(expected, text->data, text->length);
  jeton_buffer_free(text);
  return same;
}

static const JetonVerifier *make_verifier(Call *call, Json line) {
  const JetonKey *key = NULL, *decrypting[8];
  const JetonKeySet *keys = NULL, *decryption = NULL;
  const JetonClock *clock = NULL;
  const JetonVerifier *verifier = NULL;
  size_t count = 0;
  call->code = 0;
  Json data = json_member(line, "key");
  if (data.start != NULL) key = import_key(call, data);
  data = json_member(line, "keys");
  if (call->code == 0 && data.start != NULL) {
    size_t length;
    char *text = json_string(json_member(data, "data"), &length);
    Json options = json_member(data, "options");
    call->code = jeton_key_set_import((const uint8_t *)text, length, (const uint8_t *)options.start,
                                      options.length, &keys, &call->reason);
    free(text);
  }
  Json list = json_member(line, "decryption");
  for (Json one; call->code == 0 && (one = json_element(list, count)).start != NULL;) {
    CHECK(count < 8);
    const JetonKey *imported = import_key(call, one);
    if (call->code == 0) decrypting[count++] = imported;
  }
  if (call->code == 0 && count > 0) {
    call->code = jeton_key_set_new(decrypting, count, &decryption, &call->reason);
  }
  Json now = json_member(line, "now");
  if (call->code == 0 && now.start != NULL) {
    call->code = jeton_clock_new(strtoll(now.start, NULL, 10) * 1000000, &clock, &call->reason);
  }
  Json options = json_member(line, "options");
  if (call->code == 0) {
    call->code = jeton_verifier_new(key, keys, decryption, NULL, clock, (const uint8_t *)options.start,
                                    options.length, &verifier, &call->reason);
  }
  jeton_release(key, NULL);
  jeton_release(keys, NULL);
  jeton_release(decryption, NULL);
  jeton_release(clock, NULL);
  for (size_t at = 0; at < count; at++) jeton_release(decrypting[at], NULL);
  return verifier;
}

// A member of the header: missing in both, or the same in both.
static bool same_part(Json expected, const JetonVerified *result, unsigned bit, const uint8_t *buffer, JetonRange range) {
  bool has = result->present & bit;
  if ((expected.start != NULL) != has) return false;
  return !has || same_text(expected, buffer + range.start, range.length);
}

static bool same_time(Json expected, const JetonVerified *result, unsigned bit, int64_t seconds) {
  bool has = result->present & bit;
  if ((expected.start != NULL) != has) return false;
  return !has || strtoll(expected.start, NULL, 10) == seconds;
}

// A registered claim that is a string. If it is plain, its text is the bytes between the quotes.
static bool same_claim(Json expected, const JetonVerified *result, unsigned bit, const uint8_t *buffer) {
  for (unsigned at = 0; at < result->claim_count; at++) {
    const JetonClaim *claim = &result->claims[at];
    if (claim->claim != bit) continue;
    const char *value = (const char *)buffer + claim->value.start;
    if (claim->is_plain) return same_text(expected, value + 1, claim->value.length - 2);
    size_t length;
    char *text = json_string((Json){value, claim->value.length}, &length);
    bool same = same_text(expected, text, length);
    free(text);
    return same;
  }
  return expected.start == NULL;
}

static bool verify(Call *call, Json line, Json expect) {
  const JetonVerifier *verifier = make_verifier(call, line);
  if (call->code != 0) return true;
  size_t length;
  char *token = json_string(json_member(line, "token"), &length);
  size_t capacity = jeton_verify_bound(length);
  uint8_t *buffer = malloc(capacity);
  JetonVerified result;
  call->code = jeton_verify(verifier, (const uint8_t *)token, length, JETON_USE_CLOCK, buffer, capacity, &result, &call->reason);
  bool same = true;
  JetonBuffer header = {0};
  if (call->code == 0) {
    call->code = jeton_verified_header(verifier, (const uint8_t *)token, length, &header, &call->reason);
    same = call->code == 0 && same_buffer(json_member(expect, "header"), &header) &&
           same_text(json_member(expect, "json"), buffer + result.json.start, result.json.length) &&
           same_text(json_member(expect, "alg"), result.alg, result.alg_length) &&
           same_part(json_member(expect, "kid"), &result, 256, buffer, result.kid) &&
           same_part(json_member(expect, "typ"), &result, 512, buffer, result.typ) &&
           same_part(json_member(expect, "footer"), &result, 1024, buffer, result.footer) &&
           same_time(json_member(expect, "expires_at"), &result, 8, result.expires_at) &&
           same_time(json_member(expect, "not_before"), &result, 16, result.not_before) &&
           same_time(json_member(expect, "issued_at"), &result, 32, result.issued_at) &&
           same_claim(json_member(expect, "issuer"), &result, 1, buffer) &&
           same_claim(json_member(expect, "subject"), &result, 2, buffer) &&
           same_claim(json_member(expect, "token_id"), &result, 64, buffer);
  }
  free(buffer);
  free(token);
  jeton_release(verifier, NULL);
  return same;
}

static bool verify_bytes(Call *call, Json line, Json expect) {
  const JetonVerifier *verifier = make_verifier(call, line);
  if (call->code != 0) return true;
  size_t length, content_length = 0;
  char *token = json_string(json_member(line, "token"), &length);
  uint8_t *content = NULL;
  Json detached = json_member(line, "content");
  if (detached.start != NULL) {
    char *text = json_string(detached, NULL);
    content = unbase64url(text, &content_length);
    free(text);
  }
  JetonBuffer payload;
  call->code = jeton_verify_bytes(verifier, (const uint8_t *)token, length, content, content_length,
                                  &payload, &call->reason);
  bool same = true;
  if (call->code == 0) {
    char *text = base64url(payload.data, payload.length);
    same = same_text(json_member(expect, "payload"), text, strlen(text));
    free(text);
    jeton_buffer_free(&payload);
  }
  free(content);
  free(token);
  jeton_release(verifier, NULL);
  return same;
}

static bool unverified(Call *call, Json line, Json expect) {
  size_t length;
  char *token = json_string(json_member(line, "token"), &length);
  JetonBuffer text;
  call->code = jeton_unverified((const uint8_t *)token, length, &text, &call->reason);
  free(token);
  return call->code != 0 || same_buffer(json_member(expect, "json"), &text);
}

static bool issue(Call *call, Json line, Json expect) {
  const JetonKey *key = import_key(call, json_member(line, "key"));
  if (call->code != 0) return true;
  const JetonClock *clock = NULL;
  const JetonIssuer *issuer = NULL;
  Json options = json_member(line, "options");
  long long now = strtoll(json_member(line, "now").start, NULL, 10);
  CHECK(jeton_clock_new(now * 1000000, &clock, NULL) == 0);
  call->code = jeton_issuer_new(key, NULL, clock, (const uint8_t *)options.start, options.length,
                                &issuer, &call->reason);
  bool same = true;
  if (call->code == 0) {
    size_t length, token_length;
    char *claims = json_string(json_member(line, "claims"), &length);
    size_t capacity = jeton_issue_bound(issuer, length);
    uint8_t *token = malloc(capacity);
    call->code = jeton_issue(issuer, (const uint8_t *)claims, length, JETON_USE_CLOCK, token, capacity, &token_length, &call->reason);
    if (call->code == 0) same = same_text(json_member(expect, "token"), token, token_length);
    free(token);
    free(claims);
  }
  jeton_release(issuer, NULL);
  jeton_release(clock, NULL);
  jeton_release(key, NULL);
  return same;
}

static bool same_export(const JetonKey *key, const char *what, Json expected) {
  JetonBuffer text;
  if (jeton_key_export(key, TEXT(what), &text, NULL) != 0) return expected.start == NULL;
  return same_buffer(expected, &text);
}

static bool import(Call *call, Json line, Json expect) {
  const JetonKey *key = import_key(call, json_member(line, "key"));
  if (call->code != 0) return true;
  bool same = same_export(key, "kind", json_member(expect, "kind")) &&
              same_export(key, "alg", json_member(expect, "alg")) &&
              same_export(key, "kid", json_member(expect, "kid")) &&
              same_export(key, "thumbprint", json_member(expect, "thumbprint"));
  jeton_release(key, NULL);
  return same;
}

static bool run(Json line) {
  // C has no verifier for several issuers.
  if (json_member(line, "issuers").start != NULL) return true;
  Call call = {.code = 0};
  Json expect = json_member(line, "expect");
  char *action = json_string(json_member(line, "do"), NULL);
  bool same = false;
  if (!strcmp(action, "verify")) same = verify(&call, line, expect);
  else if (!strcmp(action, "verify-bytes")) same = verify_bytes(&call, line, expect);
  else if (!strcmp(action, "unverified")) same = unverified(&call, line, expect);
  else if (!strcmp(action, "issue")) same = issue(&call, line, expect);
  else if (!strcmp(action, "import")) same = import(&call, line, expect);
  free(action);
  Json code = json_member(expect, "code");
  if (call.code == 0) return same && code.start == NULL;
  const char *name = jeton_code_name(call.code);
  CHECK(name != NULL && call.reason.code == call.code);
  return same_text(code, name, strlen(name));
}

int run_cases(const char *file) {
  FILE *lines = fopen(file, "rb");
  CHECK(lines != NULL);
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  int count = 0, failed = 0;
  while ((length = getline(&line, &capacity, lines)) > 0) {
    Json json = {line, (size_t)length};
    count++;
    if (run(json)) continue;
    failed++;
    char *id = json_string(json_member(json, "id"), NULL);
    printf("failed: %s\n", id);
    free(id);
  }
  free(line);
  fclose(lines);
  printf("%d tests passed, %d failed\n", count - failed, failed);
  return failed;
}
