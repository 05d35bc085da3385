// The test program of the C interface.
//
//   c-test cases FILE     runs every case of the file
//   c-test use            uses every function, with good and with bad input
//   c-test repeat COUNT   repeats operations, for valgrind

#include "check.h"

int main(int count, char **arguments) {
  if (count == 3 && !strcmp(arguments[1], "cases")) return run_cases(arguments[2]) != 0;
  if (count == 2 && !strcmp(arguments[1], "use")) {
    use_everything();
    use_bad_input();
    printf("every function was used\n");
    return 0;
  }
  if (count == 3 && !strcmp(arguments[1], "repeat")) {
    repeat_operations(atol(arguments[2]));
    return 0;
  }
  fprintf(stderr, "usage: %s cases FILE | use | repeat COUNT\n", arguments[0]);
  return 2;
}
