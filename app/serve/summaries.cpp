#include "app/serve/summaries.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/failure.h"
#include "core/base/parse_json.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostKnown = 4 * kMostListed;
constexpr int kAtOnce = 2;
constexpr std::uint64_t kLarge = std::uint64_t{256} << 20;  // bytes: a second and more of work

std::string gpu_text(const Json& devices) {
  std::vector<std::pair<std::string, int>> names;
  for (const Json& device : devices) {
    if (!device.at("name").is_string()) continue;
    const std::string name = device.at("name");
    const auto at = std::find_if(names.begin(), names.end(), [&](const auto& one) { return one.first == name; });
    if (at == names.end())
      names.emplace_back(name, 1);
    else
      ++at->second;
  }
  std::string out;
  for (const auto& [name, count] : names)
    out += (out.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} x {}", count, name) : name);
  return out;
}

std::optional<double> number(const Json& of, const char* key) {
  const auto at = of.find(key);
  return at != of.end() && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}

std::optional<double> mean_utilization(const Json& devices) {
  double sum = 0;
  for (const Json& device : devices) sum += number(device, "utilization").value_or(0);
  return devices.empty() ? std::nullopt : std::optional(sum / static_cast<double>(devices.size()));
}

ItemSummary failed_summary(std::string why) { return {{}, {}, std::move(why), true}; }

}  // namespace

ItemSummary summary_of_overview(const std::string& text) {
  const Result<Json> json = parse_json(text);
  try {
    if (!json) return failed_summary("Its overview is " + json.error().message + ".");
    ItemSummary out;
    out.verdict = json->at("verdict").get<std::string>();
    out.gpu = gpu_text(json->at("devices"));
    if (const Json& steps = json->at("steps"); steps.is_object()) {
      out.steps = steps.at("count").get<std::int64_t>();
      out.step_ns = number(steps, "median_ns");
    }
    // As the recording's own page says it; of what is not judged there is no answer.
    const Json answer = json->value("answer", Json::object());
    if (const auto step = number(answer, "step_ns")) out.step_ns = step;
    out.gpu_share = number(answer, "gpu_share");
    if (!out.gpu_share) out.gpu_share = mean_utilization(json->at("devices"));
    return out;
  } catch (const Json::exception&) {
    return failed_summary("Its overview lacks something.");
  }
}

ItemSummary summary_of_ranks(const std::string& text) {
  ItemSummary out;
  out.verdict = text.substr(0, text.find('\n'));
  return out;
}

Summaries::Summaries(Work work) : work_(std::move(work)) {
  try {
    for (int i = 0; i < kAtOnce; ++i)
      threads_.emplace_back([this](const std::stop_token& stop) { run(stop); }, []() noexcept {});
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;
  }
}

Summaries::~Summaries() {
  for (Thread& thread : threads_) thread.request_stop();
}

std::optional<ItemSummary> Summaries::of(const ListedItem& item) {
  const std::string key = item.key();
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (under_way_.size() < kMostKnown && under_way_.insert(key).second) {
    waiting_.push_back(item);
    changed_.notify_one();
  }
  return {};
}

// The smallest that may be read now; of these the first that was asked for.
std::deque<ListedItem>::iterator Summaries::next() {
  const auto least = std::min_element(waiting_.begin(), waiting_.end(),
                                      [](const ListedItem& a, const ListedItem& b) { return a.bytes < b.bytes; });
  return least != waiting_.end() && reads_large_ && least->bytes >= kLarge ? waiting_.end() : least;
}

void Summaries::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return next() != waiting_.end(); }) && !stop.stop_requested()) {
    const auto chosen = next();
    const ListedItem item = std::move(*chosen);
    waiting_.erase(chosen);
    const bool is_large = item.bytes >= kLarge;
    reads_large_ = reads_large_ || is_large;
    lock.unlock();
    ItemSummary summary;
    try {
      summary = work_(item, stop);
    } catch (...) {
      summary = failed_summary(current_failure("read", item.path).message);
    }
    lock.lock();
    if (known_.size() >= kMostKnown) known_.clear();
    known_.insert_or_assign(item.key(), std::move(summary));
    under_way_.erase(item.key());
    if (is_large) {
      reads_large_ = false;
      changed_.notify_one();
    }
  }
}

}  // namespace gapscope
