#pragma once
// Reading is confined as in a server's process, until this goes.
#include <memory>
#include <utility>

#include "core/base/readable_folders.h"

namespace gapscope::test {

class ConfinedReading {
 public:
  explicit ConfinedReading(ReadableFolders folders) {
    confine_reading(std::make_shared<const ReadableFolders>(std::move(folders)));
  }
  ~ConfinedReading() { confine_reading(nullptr); }
  ConfinedReading(const ConfinedReading&) = delete;
  ConfinedReading& operator=(const ConfinedReading&) = delete;
};

}  // namespace gapscope::test
