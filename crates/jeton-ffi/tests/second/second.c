// Uses the C library and another Rust library.
#include <string.h>
#include "jeton.h"
uint64_t second_sum(uint64_t count);
int main(void) {
  const JetonKey *key;
  if (jeton_abi_version() != JETON_ABI_VERSION) return 1;
  if (jeton_key_generate((const uint8_t *)"ES256", 5, NULL, 0, &key, NULL)) return 2;
  if (jeton_release(key, NULL)) return 3;
  if (second_sum(10) != 45) return 4;
  return second_sum(1000) == UINT64_MAX ? 0 : 5;
}
