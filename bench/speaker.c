/* What the keepers of keeper_bench keep: says its number on its standard output and on the FIFO
   that it was given, and then nothing. Linked statically, so that its own start costs as little as
   it can. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char** words) {
  char text[32];
  const int size = snprintf(text, sizeof text, "%d\n", (int)getpid());
  const int to = count > 1 ? open(words[1], O_WRONLY | O_CLOEXEC) : -1;
  if (to >= 0 && write(to, text, (size_t)size) != size) return 1;
  if (write(STDOUT_FILENO, text, (size_t)size) != size) return 1;
  while (1) pause();
}
