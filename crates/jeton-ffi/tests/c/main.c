// The test program of the C interface.
//
//   c-test cases FILE     runs every case of the file
//   c-test use            uses every function, with good and with bad input
//   c-test repeat COUNT   repeats operations, for valgrind

#include <pthread.h>

#include "check.h"

static int argument_count;
static char **arguments;
static int result = 2;

// Runs in a thread that ends, so that the per-thread memory of libraries is freed.
static void *run(void *unused) {
  (void)unused;
  if (argument_count == 3 && !strcmp(arguments[1], "cases")) {
    result = run_cases(arguments[2]) != 0;
  } else if (argument_count == 2 && !strcmp(arguments[1], "use")) {
    use_everything();
    use_bad_input();
    printf("every function was used\n");
    result = 0;
  } else if (argument_count == 3 && !strcmp(arguments[1], "repeat")) {
    repeat_operations(atol(arguments[2]));
    result = 0;
  } else {
    fprintf(stderr, "usage: %s cases FILE | use | repeat COUNT\n", arguments[0]);
  }
  return NULL;
}

int main(int count, char **values) {
  argument_count = count;
  arguments = values;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  return result;
}
