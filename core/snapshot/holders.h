#pragma once
// Who holds memory: blocks by the stack that allocated them, by the line of the program, and by what they are for where the
// stack shows it.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot/replay.h"

namespace gapscope {

enum class MemoryUseKind : std::uint8_t {
  parameters,      // made in a module's __init__, to(), load_state_dict() and the like
  gradients,       // allocated in a backward pass, also without a Python stack: autograd's own thread has none
  optimizer,       // below torch/optim
  activations,     // in a module's forward
  communication,   // below torch/distributed
  other,           // another stack
  before_history,  // allocated before the history was recorded
};
inline constexpr std::size_t kMemoryUseKinds = 7;
std::string_view name_of(MemoryUseKind kind);  // "parameters"

struct StackHolder {
  StackId stack = 0;
  bool before_history = false;  // of the empty stack: no allocation in the history; else one without a stack
  std::int64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct LineHolder {
  std::string place;  // "train.py:12 (forward)", or why there is none
  std::int64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct KindHolder {
  MemoryUseKind kind = MemoryUseKind::other;
  std::int64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct MemoryHolders {
  std::vector<StackHolder> stacks;  // each list: most bytes first, with nothing of nothing
  std::vector<LineHolder> lines;
  std::vector<KindHolder> kinds;
};

MemoryHolders holders_of(const Snapshot& snapshot, std::span<const HeldBlock> held);

// The innermost frame of the program itself: not of an installed package, not of Python, not C++. Where the stack has none,
// its innermost Python frame; of C++ alone the operator of the backward pass, else the innermost. 0xffffffff of the empty
// stack.
std::uint32_t own_frame(const Snapshot& snapshot, StackId stack);
// The innermost Python frame; without one the same as own_frame().
std::uint32_t inner_frame(const Snapshot& snapshot, StackId stack);
// "train.py:12 (forward)"; the file without its folders. Of a frame of C++ its function.
std::string place_words(const Snapshot& snapshot, std::uint32_t frame);
// The line of LineHolder that blocks of this stack count for. `before_history`: of the empty stack, as StackHolder has it.
std::string holder_words(const Snapshot& snapshot, StackId stack, bool before_history);
bool is_python_frame(const Snapshot& snapshot, std::uint32_t frame);
MemoryUseKind use_kind(const Snapshot& snapshot, StackId stack, bool before_history);

}  // namespace gapscope
