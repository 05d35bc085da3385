// Macros and functions that the parts of the test program share.

#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jeton.h"

// Ends the program if a condition is false.
#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);           \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

// Ends the program if a call fails. `reason` is in scope.
#define OK(call)                                                                \
  do {                                                                          \
    if ((call) != 0) {                                                          \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__,                    \
              jeton_code_name(reason.code), (const char *)reason.message);      \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

// A text as a pointer and a length.
#define TEXT(text) (const uint8_t *)(text), strlen(text)

int run_cases(const char *file);
void use_everything(void);
void use_bad_input(void);
void repeat_operations(long count);

#endif
