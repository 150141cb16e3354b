// The memory of tend-sim, in which a world allocates and frees all the time. Blocks of a few sizes
// are kept for the next of the same size, and nothing is given back: every world is played in a
// process of its own. Only for one thread, and only in a release: elsewhere sanitizers look.
#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kUnit = 16;  // what every block is aligned to
constexpr std::size_t kKinds = 65;
constexpr std::size_t kPiece = std::size_t{256} * 1024;  // of the system's, cut up for blocks

/// Stands before every block.
struct alignas(kUnit) Head {
  std::size_t kind = 0;  // its size in units, this included; 0: it is the system's
};
/// Stands in a block that nobody uses.
struct Unused {
  Unused* next = nullptr;
};

struct Memory {
  std::array<Unused*, kKinds> unused{};
  std::byte* rest = nullptr;  // of the last piece
  std::size_t rest_size = 0;
};
constinit Memory memory;

void* from_system(std::size_t size) {
  void* const got = std::malloc(size);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}

[[gnu::noinline]] void* make_block(std::size_t kind, std::size_t size) {
  if (kind >= kKinds) return new (from_system(sizeof(Head) + size)) Head + 1;
  if (memory.rest_size < kind * kUnit) {
    memory.rest = static_cast<std::byte*>(from_system(kPiece));
    memory.rest_size = kPiece;
  }
  Head* const head = new (memory.rest) Head{kind};
  memory.rest += kind * kUnit;
  memory.rest_size -= kind * kUnit;
  return head + 1;
}

}  // namespace

void* operator new(std::size_t size) {
  const std::size_t kind = (sizeof(Head) + size + kUnit - 1) / kUnit;
  if (size == 0 || kind >= kKinds || memory.unused[kind] == nullptr) {
    return make_block(size == 0 ? 2 : kind, size);
  }
  Unused* const block = memory.unused[kind];
  memory.unused[kind] = block->next;
  return block;
}

void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  Head* const head = static_cast<Head*>(block) - 1;
  if (head->kind == 0) return std::free(head);
  memory.unused[head->kind] = new (block) Unused{memory.unused[head->kind]};
}

void operator delete(void* block, std::size_t /*size*/) noexcept { operator delete(block); }
