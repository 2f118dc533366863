#pragma once
// The ranks of a run call alike collectives: what these are is stored once for all of them.
#include <memory>
#include <mutex>
#include <set>

#include "core/ranks/rank_data.h"

namespace gapscope {

class WhatPool {
 public:
  // In place of each of the rank's `whats` the equal one that came first. From any thread.
  void share(RankData& rank) {
    const std::lock_guard lock(mutex_);
    for (std::shared_ptr<const CollectiveWhat>& what : rank.whats) what = *all_.insert(what).first;
  }

 private:
  struct ByValue {
    bool operator()(const std::shared_ptr<const CollectiveWhat>& a, const std::shared_ptr<const CollectiveWhat>& b) const {
      return *a < *b;
    }
  };
  std::mutex mutex_;
  std::set<std::shared_ptr<const CollectiveWhat>, ByValue> all_;
};

}  // namespace gapscope
