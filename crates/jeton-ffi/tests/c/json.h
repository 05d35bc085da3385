// A small reader of the lines of cases.jsonl. It trusts the file.

#ifndef JSON_H
#define JSON_H

#include "check.h"

// A part of a line: the JSON of a value.
typedef struct {
  const char *start;
  size_t length;
} Json;

// The value of a member of an object, or a part without start.
Json json_member(Json object, const char *name);
// The element of a list, or a part without start.
Json json_element(Json list, size_t index);
// The text of a string. The caller frees it. Its length is in `length`.
char *json_string(Json value, size_t *length);

#endif
