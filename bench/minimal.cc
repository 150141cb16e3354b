// The least a C++ program does: the yardstick of start_bench.
#include <cstdio>

int main() {
  std::puts("minimal");
  return 0;
}
