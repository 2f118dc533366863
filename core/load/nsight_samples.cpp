#include "core/load/nsight_samples.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "core/base/time.h"

namespace gapscope {
namespace {

constexpr std::size_t kMostFrames = 256;  // of a sample, the innermost
constexpr Ns kLonePeriod = kNsPerMs;      // where no thread has two samples

}  // namespace

// A sample's rows follow each other; stackDepth 0 is the innermost function.
void NsightSamples::read_chains() {
  std::vector<std::pair<std::int64_t, Frame>> chain;
  std::int64_t id = 0;
  const auto finish = [&] {
    if (chain.empty()) return;
    std::stable_sort(chain.begin(), chain.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    chain.resize(std::min(chain.size(), kMostFrames));
    chains_.push_back({id, frames_.size(), static_cast<std::uint32_t>(chain.size())});
    for (auto frame = chain.rbegin(); frame != chain.rend(); ++frame) frames_.push_back(frame->second);
    chain.clear();
  };
  auto rows = file_.rows("SAMPLING_CALLCHAINS", {"id", "stackDepth", "symbol", "module", "unresolved"});
  while (rows.next()) {
    const std::int64_t of = rows.number_or(0, -1);
    if (of != id) finish();
    id = of;
    const bool is_unresolved = rows.number_or(4, 0) != 0 && rows.number(3);
    const std::int64_t text = rows.number_or(is_unresolved ? 3 : 2, -1);
    const Frame frame = text >= 0 && text < kUnknown ? static_cast<Frame>(text) : kUnknown;
    chain.emplace_back(rows.number_or(1, 0), is_unresolved ? frame | kIsModule : frame);
  }
  finish();
  std::stable_sort(chains_.begin(), chains_.end(), [](const Chain& a, const Chain& b) { return a.id < b.id; });
}

void NsightSamples::read() {
  is_read_ = true;
  auto rows = file_.rows("COMPOSITE_EVENTS", {"id", "start", "globalTid"});
  while (rows.next())
    if (const auto time = rows.number(1)) samples_.push_back({rows.number_or(0, -1), rows.number_or(2, 0), *time, {}});
  if (samples_.empty()) return;
  read_chains();
  std::stable_sort(samples_.begin(), samples_.end(), [](const Sample& a, const Sample& b) { return a.id < b.id; });
  auto chain = chains_.begin();  // each is of one sample
  for (Sample& sample : samples_) {
    while (chain != chains_.end() && chain->id < sample.id) ++chain;
    if (chain != chains_.end() && chain->id == sample.id) sample.chain = *chain++;
  }
  std::stable_sort(samples_.begin(), samples_.end(), [](const Sample& a, const Sample& b) {
    return std::tuple(a.thread, a.time) < std::tuple(b.thread, b.time);
  });
  find_period();
}

// What mostly passes between two samples of a thread.
void NsightSamples::find_period() {
  std::vector<Ns> between;
  for (std::size_t i = 1; i < samples_.size(); ++i) {
    Ns passed = 0;
    if (samples_[i].thread == samples_[i - 1].thread &&
        !__builtin_sub_overflow(samples_[i].time, samples_[i - 1].time, &passed) && passed > 0)
      between.push_back(passed);
  }
  period_ = kLonePeriod;
  if (between.empty()) return;
  const auto middle = between.begin() + static_cast<std::ptrdiff_t>(between.size() / 2);
  std::nth_element(between.begin(), middle, between.end());
  period_ = *middle;
}

std::string_view NsightSamples::name_of(Frame frame) {
  if (frame == kUnknown) return "function without a name";
  const std::string_view text = world_.text(frame & ~kIsModule);
  if ((frame & kIsModule) == 0) return text.empty() ? "function without a name" : text;
  name_ = fmt::format("[{}]", text.substr(text.rfind('/') + 1));
  return name_;
}

// The outer ones first: of two that begin and end together the first is around the other.
void NsightSamples::close(KinetoWriter& out, std::size_t depth, Ns end) {
  for (std::size_t i = depth; i < open_.size(); ++i) {
    Ns length = 0;
    if (__builtin_sub_overflow(end, open_[i].begin, &length)) length = 0;
    out.slice("cpu_sample", name_of(open_[i].frame), world_.samples(thread_), open_[i].begin, length);
    out.end();
  }
  open_.resize(std::min(depth, open_.size()));
}

bool NsightSamples::next(KinetoWriter& out) {
  if (!is_read_) read();
  if (file_.trouble()) return false;
  if (at_ == samples_.size()) {
    const bool was_open = !open_.empty();
    close(out, 0, end_);
    return was_open;
  }
  const Sample& sample = samples_[at_++];
  const Frame* const chain = frames_.data() + sample.chain.first;
  const std::size_t count = std::max<std::size_t>(sample.chain.count, 1);
  const auto frame = [&](std::size_t depth) { return sample.chain.count == 0 ? kUnknown : chain[depth]; };
  std::size_t shared = 0;  // frames that the one before has, too
  if (sample.thread == thread_ && sample.time <= end_)
    while (shared < open_.size() && shared < count && open_[shared].frame == frame(shared)) ++shared;
  close(out, shared, sample.thread == thread_ ? std::min(end_, sample.time) : end_);
  thread_ = sample.thread;
  for (; shared < count; ++shared) open_.push_back({frame(shared), sample.time});
  // Up to the next one of the thread, unless that is missing.
  const bool has_next = at_ < samples_.size() && samples_[at_].thread == thread_;
  Ns after = std::numeric_limits<Ns>::max();
  if (has_next && __builtin_sub_overflow(samples_[at_].time, sample.time, &after)) after = std::numeric_limits<Ns>::max();
  if (__builtin_add_overflow(sample.time, after / 2 < period_ ? after : period_, &end_)) end_ = sample.time;
  return true;
}

}  // namespace gapscope
