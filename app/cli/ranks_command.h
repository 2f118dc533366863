#pragma once
// The arguments of `ranks`, for gapscope and gapscope-mpi.
#include <functional>
#include <memory>

#include "app/cli/ranks.h"

namespace CLI {
class App;
}

namespace gapscope {

std::shared_ptr<RanksOptions> declare_ranks_options(CLI::App& arguments);
std::function<int()> declare_ranks(CLI::App& arguments);

}  // namespace gapscope
