#pragma once
// Frees what is large on a thread of its own: a document of a gigabyte takes a good part of a second to take apart, which
// the UI thread must not spend.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/parallel.h"

namespace gapscope {

class FreeLater {
 public:
  FreeLater();
  // Takes over one of the owners of `thing`, and lets go of it when it is the last: another owner for a little
  // while (a job that works on it) does not end up freeing it. Null is fine.
  void add(std::shared_ptr<const void> thing);

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::shared_ptr<const void>> things_;
  Thread thread_;  // last: it must stop before the rest goes
};

}  // namespace gapscope
