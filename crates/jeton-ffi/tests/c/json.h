// A small JSON reader for the lines of cases.jsonl. It trusts the file.

#ifndef JSON_H
#define JSON_H

#include "check.h"

// A part of a line: the JSON of a value.
typedef struct {
  const char *start;
  size_t length;
} Json;

// The value of a member of an object, or a part without a start.
Json json_member(Json object, const char *name);
// An element of a list, or a part without a start.
Json json_element(Json list, size_t index);
// The text of a string, with its length in `length`. The caller frees it.
char *json_string(Json value, size_t *length);

#endif
