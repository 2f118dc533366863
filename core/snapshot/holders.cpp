#include "core/snapshot/holders.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/saturating.h"
#include "core/base/text.h"

namespace gapscope {
namespace {

constexpr std::uint32_t kNoFrame = 0xffff'ffff;

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
bool is_python(std::string_view file) { return file.ends_with(".py") || file.starts_with('<'); }
bool is_installed(std::string_view file) {
  if (file.starts_with('<')) return !file.starts_with("<ipython");  // <frozen importlib>, <string>; a cell of a notebook is own
  constexpr std::string_view kInstalled[] = {"site-packages/", "dist-packages/", "/lib/python3",  "/torch/nn/",
                                             "/torch/optim/",  "/torch/_",       "/torchinductor"};
  return std::ranges::any_of(kInstalled, [&](std::string_view part) { return has(file, part); });
}

// Autograd's own thread has no Python stack.
constexpr const char* kNoStack = "no Python stack (backward pass)";
constexpr const char* kBefore = "allocated before the history began";

constexpr std::string_view kMakesParameters[] = {"__init__",
                                                 "_apply",
                                                 "to",
                                                 "cuda",
                                                 "load_state_dict",
                                                 "from_pretrained",
                                                 "reset_parameters",
                                                 "to_empty",
                                                 "_load_state_dict_into_model"};

// What a frame shows of the use; `other`: nothing.
MemoryUseKind shown_by(std::string_view file, std::string_view name) {
  if (has(file, "torch/optim/")) return MemoryUseKind::optimizer;
  if (has(file, "torch/distributed/") || has(name, "c10d::")) return MemoryUseKind::communication;
  if (has(file, "torch/autograd/") || has(name, "autograd::Engine") || name == "backward" || has(file, "torch/_tensor.py"))
    return MemoryUseKind::gradients;
  const bool in_module = has(file, "torch/nn/");
  if (in_module && std::ranges::find(kMakesParameters, name) != std::end(kMakesParameters)) return MemoryUseKind::parameters;
  if (name == "load_state_dict" || name == "from_pretrained") return MemoryUseKind::parameters;
  if (in_module && (name == "forward" || name == "_call_impl" || name == "_wrapped_call_impl" || has(file, "functional.py")))
    return MemoryUseKind::activations;
  return MemoryUseKind::other;
}

template <class Holder>
void sort_by_bytes(std::vector<Holder>& holders) {
  std::ranges::stable_sort(holders, std::ranges::greater{}, &Holder::bytes);
}

template <class Holder>
void add(Holder& holder, std::int64_t bytes, std::uint64_t blocks) {
  add_saturating(holder.bytes, bytes);
  holder.blocks += blocks;
}

}  // namespace

std::string_view name_of(MemoryUseKind kind) {
  constexpr std::array<std::string_view, kMemoryUseKinds> kNames = {
      "parameters", "gradients", "optimizer", "activations", "communication", "other", "before_history"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::uint32_t own_frame(const Snapshot& snapshot, StackId stack) {
  std::uint32_t python = kNoFrame;
  const auto frames = snapshot.stack(stack);
  for (const std::uint32_t f : frames) {
    const std::string_view file = snapshot.texts[snapshot.frames[f].file];
    if (!is_python(file)) continue;
    if (!is_installed(file)) return f;
    if (python == kNoFrame) python = f;
  }
  if (python != kNoFrame || frames.empty()) return python;
  const auto backward =
      std::ranges::find_if(frames, [&](std::uint32_t f) { return has(snapshot.texts[snapshot.frames[f].name], "Backward"); });
  return backward != frames.end() ? *backward : frames.front();
}

std::uint32_t inner_frame(const Snapshot& snapshot, StackId stack) {
  for (const std::uint32_t f : snapshot.stack(stack))
    if (is_python(snapshot.texts[snapshot.frames[f].file])) return f;
  return own_frame(snapshot, stack);
}

std::string place_words(const Snapshot& snapshot, std::uint32_t frame) {
  if (frame == kNoFrame) return "no stack";
  const SnapshotFrame& f = snapshot.frames[frame];
  const std::string_view file = snapshot.texts[f.file], name = snapshot.texts[f.name];
  if (!is_python(file)) return name.empty() ? "a frame without a name" : std::string(name);
  return fmt::format("{}:{}{}", file.substr(file.rfind('/') + 1), f.line, name.empty() ? "" : fmt::format(" ({})", name));
}

bool is_python_frame(const Snapshot& snapshot, std::uint32_t frame) {
  return is_python(snapshot.texts[snapshot.frames[frame].file]);
}

std::string holder_words(const Snapshot& snapshot, StackId stack, bool before_history) {
  if (stack == 0 && before_history) return kBefore;
  if (stack == 0) return snapshot.stacks() > 1 ? kNoStack : "no stack";
  return place_words(snapshot, own_frame(snapshot, stack));
}

// The innermost frame that shows something decides; a module's construction or a backward pass further out overrules a forward.
MemoryUseKind use_kind(const Snapshot& snapshot, StackId stack, bool before_history) {
  if (stack == 0 && before_history) return MemoryUseKind::before_history;
  if (stack == 0) return snapshot.stacks() > 1 ? MemoryUseKind::gradients : MemoryUseKind::other;
  MemoryUseKind kind = MemoryUseKind::other;
  for (const std::uint32_t f : snapshot.stack(stack)) {
    const MemoryUseKind shown = shown_by(snapshot.texts[snapshot.frames[f].file], snapshot.texts[snapshot.frames[f].name]);
    if (shown == MemoryUseKind::other) continue;
    if (kind == MemoryUseKind::other || (kind == MemoryUseKind::activations && shown == MemoryUseKind::gradients)) kind = shown;
    if (kind != MemoryUseKind::activations) break;
  }
  return kind;
}

MemoryHolders holders_of(const Snapshot& snapshot, std::span<const HeldBlock> held) {
  std::unordered_map<std::uint64_t, StackHolder> by_stack;
  for (const HeldBlock& block : held) {
    const bool unknown = block.stack == 0 && block.allocated_by == kBeforeHistory;
    StackHolder& holder = by_stack[std::uint64_t{block.stack} << 1 | (unknown ? 1 : 0)];
    holder.stack = block.stack;
    holder.before_history = unknown;
    add(holder, block.size, 1);
  }
  MemoryHolders out;
  for (const auto& [key, holder] : by_stack) out.stacks.push_back(holder);
  std::ranges::sort(out.stacks, {}, [](const StackHolder& h) { return std::pair(h.stack, h.before_history); });
  sort_by_bytes(out.stacks);
  std::unordered_map<std::string, LineHolder> by_line;
  std::array<KindHolder, kMemoryUseKinds> kinds{};
  for (const StackHolder& holder : out.stacks) {
    std::string place = holder_words(snapshot, holder.stack, holder.before_history);
    LineHolder& line = by_line[place];
    line.place = std::move(place);
    add(line, holder.bytes, holder.blocks);
    const MemoryUseKind kind = use_kind(snapshot, holder.stack, holder.before_history);
    kinds[static_cast<std::size_t>(kind)].kind = kind;
    add(kinds[static_cast<std::size_t>(kind)], holder.bytes, holder.blocks);
  }
  for (auto& [place, holder] : by_line) out.lines.push_back(std::move(holder));
  std::ranges::sort(out.lines, {}, &LineHolder::place);
  sort_by_bytes(out.lines);
  for (const KindHolder& kind : kinds)
    if (kind.blocks > 0) out.kinds.push_back(kind);
  sort_by_bytes(out.kinds);
  return out;
}

}  // namespace gapscope
