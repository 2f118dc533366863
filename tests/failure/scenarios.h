#pragma once
// What happens where threads or an answer of the file system is not available, by name. Each says what is wrong.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace gapscope::test {

const std::map<std::string, std::function<std::optional<Error>()>>& scenarios();

}  // namespace gapscope::test
