#include "app/sampler/asked_times.h"

#include <algorithm>

namespace gapscope::sampler {

void AskedTimes::open(std::uint32_t marker, Ns time) {
  const auto [at, fresh] = open_.try_emplace(marker, time);
  if (!fresh) {
    begins_.erase(begins_.find(at->second));
    at->second = time;
  }
  begins_.insert(time);
}

void AskedTimes::close(std::uint32_t marker, Ns time) {
  const auto opened = open_.find(marker);
  if (opened == open_.end()) return;
  Times whole{opened->second, std::max(opened->second, time)};
  begins_.erase(begins_.find(opened->second));
  open_.erase(opened);
  // What it touches becomes one with it; mostly it is the last.
  auto first = past_.end();
  while (first != past_.begin() && std::prev(first)->end >= whole.begin) --first, ++steps_;
  auto last = first;
  for (; last != past_.end() && last->begin <= whole.end; ++last, ++steps_) {
    whole.begin = std::min(whole.begin, last->begin);
    whole.end = std::max(whole.end, last->end);
  }
  past_.insert(past_.erase(first, last), whole);
}

bool AskedTimes::contains(Ns time) const {
  if (!begins_.empty() && *begins_.begin() <= time) return true;
  const auto at = std::partition_point(past_.begin(), past_.end(), [&](const Times& t) { return ++steps_, t.end < time; });
  return at != past_.end() && at->begin <= time;
}

void AskedTimes::forget(Ns time, const std::function<bool(const Times&)>& is_needed) {
  const auto old = std::partition_point(past_.begin(), past_.end(), [&](const Times& t) { return ++steps_, t.end < time; });
  past_.erase(std::remove_if(past_.begin(), old, [&](const Times& t) { return ++steps_, !is_needed(t); }), old);
}

}  // namespace gapscope::sampler
