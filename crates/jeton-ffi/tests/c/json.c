#include "json.h"

static const char *skip_space(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

// The end of the value that starts here.
static const char *skip_value(const char *at, const char *end) {
  int depth = 0;
  do {
    CHECK(at < end);
    if (*at == '"') {
      for (at++; *at != '"'; at++) {
        CHECK(at < end);
        if (*at == '\\') at++;
      }
      at++;
    } else if (*at == '{' || *at == '[') {
      depth++;
      at++;
    } else if (*at == '}' || *at == ']') {
      depth--;
      at++;
    } else if (depth > 0) {
      at++;
    } else {
      while (at < end && !strchr(",}] \t\r\n", *at)) at++;
    }
  } while (depth > 0);
  return at;
}

Json json_member(Json object, const char *name) {
  Json none = {NULL, 0};
  if (object.start == NULL || object.length == 0 || *object.start != '{') return none;
  const char *end = object.start + object.length;
  const char *at = skip_space(object.start + 1, end);
  while (at < end && *at != '}') {
    const char *key = at;
    at = skip_value(at, end);
    bool is_it = (size_t)(at - key) == strlen(name) + 2 && !memcmp(key + 1, name, strlen(name));
    at = skip_space(at, end);
    CHECK(*at == ':');
    at = skip_space(at + 1, end);
    const char *value = at;
    at = skip_value(at, end);
    if (is_it) return (Json){value, (size_t)(at - value)};
    at = skip_space(at, end);
    if (*at == ',') at = skip_space(at + 1, end);
  }
  return none;
}

Json json_element(Json list, size_t index) {
  Json none = {NULL, 0};
  if (list.start == NULL || *list.start != '[') return none;
  const char *end = list.start + list.length;
  const char *at = skip_space(list.start + 1, end);
  while (at < end && *at != ']') {
    const char *value = at;
    at = skip_value(at, end);
    if (index-- == 0) return (Json){value, (size_t)(at - value)};
    at = skip_space(at, end);
    if (*at == ',') at = skip_space(at + 1, end);
  }
  return none;
}

static unsigned hex4(const char *at) {
  char digits[5] = {at[0], at[1], at[2], at[3], 0};
  return (unsigned)strtoul(digits, NULL, 16);
}

char *json_string(Json value, size_t *length) {
  CHECK(value.start != NULL && *value.start == '"');
  char *text = malloc(value.length + 1);
  size_t written = 0;
  const char *end = value.start + value.length - 1;
  for (const char *at = value.start + 1; at < end; at++) {
    if (*at != '\\') {
      text[written++] = *at;
      continue;
    }
    at++;
    const char *names = "bfnrt", *bytes = "\b\f\n\r\t";
    const char *found = strchr(names, *at);
    if (*at != 'u') {
      text[written++] = found ? bytes[found - names] : *at;
      continue;
    }
    unsigned point = hex4(at + 1);
    at += 4;
    if (point >= 0xd800 && point < 0xdc00 && at[1] == '\\') {
      point = 0x10000 + ((point - 0xd800) << 10) + (hex4(at + 3) - 0xdc00);
      at += 6;
    }
    if (point < 0x80) {
      text[written++] = (char)point;
    } else if (point < 0x800) {
      text[written++] = (char)(0xc0 | point >> 6);
      text[written++] = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
      text[written++] = (char)(0xe0 | point >> 12);
      text[written++] = (char)(0x80 | (point >> 6 & 0x3f));
      text[written++] = (char)(0x80 | (point & 0x3f));
    } else {
      text[written++] = (char)(0xf0 | point >> 18);
      text[written++] = (char)(0x80 | (point >> 12 & 0x3f));
      text[written++] = (char)(0x80 | (point >> 6 & 0x3f));
      text[written++] = (char)(0x80 | (point & 0x3f));
    }
  }
  text[written] = 0;
  if (length != NULL) *length = written;
  return text;
}
