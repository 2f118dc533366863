#pragma once
// The command that profiles a kernel's launch again, as the details ask for it: counting the launches of a function that a
// program launches a million times takes longer than a frame.
#include <atomic>
#include <memory>
#include <optional>

#include "core/analyze/ncu_command/ncu_command.h"

namespace gapscope {

struct Document;

struct KernelCommand {
  SliceId kernel;
  std::optional<NcuCommand> ncu;  // none where ncu could not run it alone
};

struct KernelCommandQuestion {
  using Answer = KernelCommand;
  static constexpr const char* kToDo = "count a kernel's launches";
  SliceId kernel;
  friend bool operator==(const KernelCommandQuestion&, const KernelCommandQuestion&) = default;
};
std::shared_ptr<const KernelCommand> answer(const Document& document, const KernelCommandQuestion& question,
                                            const std::atomic<bool>* cancel);

}  // namespace gapscope
