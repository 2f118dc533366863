#pragma once
// The args of many events, read in one pass over the file in its order.
#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/load/args.h"
#include "core/load/read_again.h"

namespace gapscope {

struct ArgsPass {
  // Events by their offsets, ascending, none twice.
  std::span<const std::uint64_t> offsets;
  // Whether an event (position in `offsets`) may be of interest: asked with its text and perhaps more of what follows it.
  // Quick.
  std::function<bool(std::size_t event, std::string_view text)> may_matter;
  // The args of those that may be: position in `offsets`. False ends the pass.
  std::function<bool(std::size_t event, const std::vector<Arg>& args)> take;
  const std::atomic<bool>* cancel = nullptr;  // may be null
};

// An Error where the file cannot be read any more; "Cancelled." where it was.
std::optional<Error> read_args_in_order(const TextAccess& text, const ArgsPass& pass);

}  // namespace gapscope
