// A plain C99 program with the shared library: that it compiles and links is half of the test. The
// exit code is the number of the first check that failed.
#include <errno.h>
#include <string.h>

#include "tend.h"

int main(int count, char** arguments) {
  if (count != 3) return 1;  // a folder of ours, and one of a keeper
  if (tend_open_at(arguments[1], 0) != NULL || errno != EINVAL) return 2;
  if (tend_open_at("relative", 1) != NULL || strstr(tend_why(NULL), "relative") == NULL) return 3;

  tend_client* stranger = tend_open_at(arguments[1], 1);
  if (stranger == NULL) return 4;
  if (tend_beat(stranger) != -1 || errno != ENOENT) return 5;
  if (tend_state(stranger, TEND_IDLE, 60) != -1 || errno != ENOENT) return 6;
  if (tend_ack(stranger, NULL) != -1 || tend_check_life(stranger) != -1) return 7;
  tend_close(stranger);

  tend_client* client = tend_open_at(arguments[2], 1);
  if (client == NULL) return 8;
  if (tend_life(client) != 1 || strcmp(tend_agent(client), "coder-x7") != 0) return 9;
  if (tend_beat(client) != 0 || tend_state(client, TEND_EXITING, 0) != 0) return 10;
  if (tend_ack(client, "p1") != 0 || tend_check_life(client) != 1) return 11;
  if (tend_state(client, (enum tend_state_word)4, 0) != -1 || errno != EINVAL) return 12;
  if (tend_parent(client) != -1 || errno != ENOENT) return 13;
  tend_close(client);
  tend_close(NULL);
  return 0;
}
