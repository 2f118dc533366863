#include "app/sampler/event_writer.h"

#include <unistd.h>

#include <algorithm>

namespace gapscope::sampler {
namespace {

constexpr Ns kSettled = 2'000'000'000;           // after so long all records of a moment have come
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

}  // namespace

void EventWriter::add(const Seen& seen) {
  std::visit(Overloaded{[&](const Call& call) { add_call(call); },
                        [&](const Kernel& kernel) { add_work(kernel, append_kernel); },
                        [&](const Copy& copy) { add_work(copy, append_copy); },
                        [&](const Fill& fill) { add_work(fill, append_fill); },
                        [&](Sync sync) {
                          if (const auto at = device_of_context_.find(static_cast<std::uint32_t>(sync.place.context)); at != device_of_context_.end())
                            sync.place.device = at->second;
                          if (!begin()) return;
                          name_stream(sync.place.device, kSyncLane + std::max(sync.place.stream, 0));
                          std::string text;
                          append_sync(text, info_, sync);
                          put(sync.times.begin, sync.place.correlation, true, std::move(text));
                        },
                        [&](const Overhead& overhead) {
                          if (!begin()) return;
                          std::string text;
                          append_overhead(text, info_, overhead);
                          put(overhead.times.begin, 0, false, std::move(text));
                        },
                        [&](const Marker& marker) { add_marker(marker); },
                        [&](const ContextSeen& context) { device_of_context_[context.context] = context.device; }},
             seen);
}

// The file begins with the first event, when the driver can be asked what GPUs there are.
bool EventWriter::begin() {
  if (begun_) return file_.is_open();
  begun_ = true;
  info_ = world_.facts();
  path_ = options_.out;
  trouble_ = file_.open(path_);
  if (!trouble_.empty() && access(TracePieces::partial_name(path_).c_str(), F_OK) == 0) {  // another process of the same program was first
    path_ = path_of_process(options_.out, info_.process);
    trouble_ = file_.open(path_);
  }
  if (!trouble_.empty()) return false;
  append_head(text_, info_);
  append_process_names(text_, info_);
  return true;
}

void EventWriter::write(Ns time, std::string_view text) {
  first_ = events_ == 0 ? time : std::min(first_, time);
  last_ = std::max(last_, time);
  text_ += kNextEvent;
  text_ += text;
  ++events_;
}

void EventWriter::put(Ns time, std::uint32_t correlation, bool on_gpu, std::string text) {
  if (!is_restricted())
    write(time, text);
  else
    later_.push_back({time, correlation, on_gpu, std::move(text)});
}

void EventWriter::add_call(const Call& call) {
  saw_cuda_ = true;
  follow_profiler(call);
  ranges_.add_call(call);
  if (is_left_out(call.name, call.driver) || !begin()) return;
  name_thread(call.thread);
  std::string text;
  append_call(text, info_, call);
  put(call.times.begin, call.correlation, false, std::move(text));
}

template <class Work, class Append>
void EventWriter::add_work(const Work& work, Append append) {
  saw_cuda_ = true;
  ranges_.add_work(work.place, work.times);
  if (!begin()) return;
  name_stream(work.place.device, work.place.stream);
  std::string text;
  append(text, info_, work);
  put(work.times.begin, work.place.correlation, true, std::move(text));
}

void EventWriter::add_marker(const Marker& marker) {
  follow_range(marker);
  const std::optional<Range> range = ranges_.add(marker);
  if ((!range && marker.what != Marker::What::mark) || !begin()) return;
  name_thread(range ? range->thread : marker.thread);
  std::string text;
  if (range)
    append_range(text, info_, *range);
  else
    append_mark(text, info_, marker);
  put(range ? range->times.begin : marker.time, 0, false, std::move(text));
}

void EventWriter::close_asked(std::uint32_t marker, Ns time) {
  const auto open = asked_open_.find(marker);
  if (open == asked_open_.end()) return;
  asked_.push_back({open->second, time});
  asked_open_.erase(open);
}

void EventWriter::follow_range(const Marker& marker) {
  if (options_.range.empty()) return;
  if (marker.what == Marker::What::begin && marker.name == options_.range) open_asked(marker.id, marker.time);
  if (marker.what == Marker::What::end) close_asked(marker.id, marker.time);
}

void EventWriter::follow_profiler(const Call& call) {
  constexpr std::uint32_t kNoMarker = ~0u;
  if (!options_.profiler_api) return;
  if (call.name.ends_with("ProfilerStart")) open_asked(kNoMarker, call.times.end);
  if (call.name.ends_with("ProfilerStop")) close_asked(kNoMarker, call.times.begin);
}

bool EventWriter::in_range(Ns time) const {
  const auto holds = [&](const Times& t) { return t.begin <= time && time <= t.end; };
  const auto began = [&](const auto& open) { return open.second <= time; };
  return std::any_of(asked_.begin(), asked_.end(), holds) || std::any_of(asked_open_.begin(), asked_open_.end(), began);
}

// Calls first: GPU work is kept where its call is, and where it ran in the part asked for though it was launched before.
void EventWriter::settle(Ns until) {
  for (const Later& event : later_)
    if (!event.on_gpu && event.time < until && event.correlation != 0 && in_range(event.time)) kept_.insert(event.correlation);
  std::erase_if(later_, [&](const Later& event) {
    if (event.time >= until) return false;
    if (in_range(event.time) || (event.on_gpu && kept_.contains(event.correlation))) write(event.time, event.text);
    return true;
  });
}

void EventWriter::name_thread(std::uint32_t thread) {
  if (!named_threads_.insert(thread).second) return;
  std::string text;
  append_thread_name(text, info_, thread, world_.thread_name(thread));
  text_ += kNextEvent;
  text_ += text;
}

void EventWriter::name_stream(std::int32_t device, std::int64_t stream) {
  std::string text;
  if (named_devices_.insert(device).second) {
    append_gpu_names(text, info_, device);
    text_.append(kNextEvent).append(text);
  }
  if (!named_streams_.insert({device, stream}).second) return;
  text.clear();
  append_stream_name(text, info_, device, stream);
  text_.append(kNextEvent).append(text);
}

void EventWriter::write_gpu_ranges(Ns until) {
  for (const GpuRange& range : ranges_.take_gpu_ranges(until)) {
    if (!file_.is_open()) continue;
    std::string text;
    append_gpu_range(text, info_, range.name, range.times, range.device, range.stream);
    if (!is_restricted() || in_range(range.begun)) write(range.times.begin, text);
  }
}

void EventWriter::flush(Ns now) {
  settle(now - kSettled);
  write_gpu_ranges(now - kSettled);
  if (!file_.is_open() || text_.empty()) return;
  if (const std::string wrong = file_.add(text_); trouble_.empty()) trouble_ = wrong;
  text_.clear();
}

void EventWriter::finish(Ns now) {
  constexpr Ns kEverything = INT64_MAX;
  for (const Range& range : ranges_.take_open(now)) {
    if (!begin()) break;
    std::string text;
    append_range(text, info_, range);
    put(range.times.begin, 0, false, std::move(text));
  }
  settle(kEverything);
  write_gpu_ranges(kEverything);
  if (!file_.is_open()) return;
  if (!saw_cuda_) return file_.discard();
  if (is_restricted() && events_ == 0) {
    trouble_ = options_.range.empty() ? "Nothing was recorded: the program never called cudaProfilerStart."
                                      : "Nothing was recorded: there was no NVTX range called \"" + options_.range + "\".";
    return file_.discard();
  }
  std::string text;
  append_recording(text, info_, {first_, std::max(first_, last_)}, events_);
  text_.append(kNextEvent).append(text).append(kTraceTail);
  if (const std::string wrong = file_.finish(text_); trouble_.empty()) trouble_ = wrong;
  text_.clear();
}

}  // namespace gapscope::sampler
