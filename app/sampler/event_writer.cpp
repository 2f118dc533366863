#include "app/sampler/event_writer.h"

#include <algorithm>

#include "app/sampler/call_names.h"

namespace gapscope::sampler {
namespace {

constexpr std::size_t kPieceBytes = 4 << 20;  // so much text is written at once, and no more of it is ever held
constexpr Ns kSettled = 2'000'000'000;        // after so long all records of a moment have come, but for work that still runs
// The part asked for is remembered for work that is heard of so much later (a collective that waits for another rank), and its
// calls, which are many, for work that ran so much later than they.
constexpr Ns kPartRemembered = 1800 * 1'000'000'000LL, kCallRemembered = 60 * 1'000'000'000LL;

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;  // clang 14 does not make one itself

}  // namespace

void EventWriter::add(const Seen& seen) {
  std::visit(
      Overloaded{[&](const Call& call) { add_call(call); }, [&](const Kernel& kernel) { add_work(kernel, append_kernel); },
                 [&](const Copy& copy) { add_work(copy, append_copy); }, [&](const Fill& fill) { add_work(fill, append_fill); },
                 [&](Sync sync) {
                   if (const auto at = device_of_context_.find(static_cast<std::uint32_t>(sync.place.context));
                       at != device_of_context_.end())
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
  const PieceOwner owner = this_process(options_.run);
  trouble_ = file_.open(path_of_rank(options_.out, owner.rank), owner);
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
  if (text_.size() >= kPieceBytes) write_piece();
}

void EventWriter::write_piece() {
  if (const std::string wrong = file_.add(text_); trouble_.empty()) trouble_ = wrong;
  text_.clear();
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

template <class Reading>
void EventWriter::add_counters(const Reading& reading) {
  if (!begin()) return;
  name_device(reading.device);
  std::string text;
  counters_.add(text, info_, reading);
  if (!text.empty()) text_.append(kNextEvent).append(text);
  if (text_.size() >= kPieceBytes) write_piece();
}
template void EventWriter::add_counters(const CounterReading&);
template void EventWriter::add_counters(const HealthReading&);

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

void EventWriter::follow_range(const Marker& marker) {
  if (options_.range.empty()) return;
  if (marker.what == Marker::What::begin && marker.name == options_.range) asked_.open(marker.id, marker.time);
  if (marker.what == Marker::What::end) asked_.close(marker.id, marker.time);
}

void EventWriter::follow_profiler(const Call& call) {
  constexpr std::uint32_t kNoMarker = ~0u;
  if (!options_.profiler_api) return;
  if (call.name.ends_with("ProfilerStart")) asked_.open(kNoMarker, call.times.end);
  if (call.name.ends_with("ProfilerStop")) asked_.close(kNoMarker, call.times.begin);
}

// Calls first: GPU work is written where its call is, and where it ran in the part asked for though it was launched before.
void EventWriter::settle(Ns until) {
  for (const Later& event : later_)
    if (!event.on_gpu && event.time < until && event.correlation != 0 && asked_.contains(event.time) &&
        kept_.insert(event.correlation).second)
      kept_since_.emplace_back(event.time, event.correlation);
  std::erase_if(later_, [&](const Later& event) {
    if (event.time >= until) return false;
    if (asked_.contains(event.time) || (event.on_gpu && kept_.contains(event.correlation))) write(event.time, event.text);
    return true;
  });
}

// Ranges that began in the part asked for belong to it, however long they last.
void EventWriter::forget(Ns until) {
  asked_.forget(until - kPartRemembered, [&](const Times& times) { return ranges_.began_within(times); });
  for (; !kept_since_.empty() && kept_since_.front().first < until - kCallRemembered; kept_since_.pop_front())
    kept_.erase(kept_since_.front().second);
}

void EventWriter::name_thread(std::uint32_t thread) {
  if (!named_threads_.insert(thread).second) return;
  std::string text;
  append_thread_name(text, info_, thread, world_.thread_name(thread));
  text_ += kNextEvent;
  text_ += text;
}

void EventWriter::name_device(std::int32_t device) {
  if (!named_devices_.insert(device).second) return;
  std::string text;
  append_gpu_names(text, info_, device);
  text_.append(kNextEvent).append(text);
}

void EventWriter::name_stream(std::int32_t device, std::int64_t stream) {
  name_device(device);
  if (!named_streams_.insert({device, stream}).second) return;
  std::string text;
  append_stream_name(text, info_, device, stream);
  text_.append(kNextEvent).append(text);
}

void EventWriter::write_gpu_ranges(Ns until) {
  for (const GpuRange& range : ranges_.take_gpu_ranges(until)) {
    if (!file_.is_open()) continue;
    std::string text;
    append_gpu_range(text, info_, range.name, range.times, range.device, range.stream);
    if (!is_restricted() || asked_.contains(range.begun)) write(range.times.begin, text);
  }
}

void EventWriter::flush(Ns now) {
  settle(now - kSettled);
  write_gpu_ranges(now - kSettled);
  forget(now - kSettled);
  if (file_.is_open()) write_piece();
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
  if (!has_anything()) return file_.discard();
  if (is_restricted() && events_ == 0) {
    trouble_ = options_.range.empty() ? "Nothing was recorded: the program never called cudaProfilerStart."
                                      : "Nothing was recorded: there was no NVTX range called \"" + options_.range + "\".";
    return file_.discard();
  }
  std::string text;
  counters_.finish(text, info_);
  if (events_ > 0) {
    if (!text.empty()) text += kNextEvent;
    append_recording(text, info_, {first_, std::max(first_, last_)}, events_);
  }
  if (!text.empty()) text_.append(kNextEvent).append(text);
  write_piece();
  if (const std::string wrong = file_.finish(kTraceTail); trouble_.empty()) trouble_ = wrong;
}

void EventWriter::finish_short() {
  later_ = {};
  text_ = {};
  ranges_ = {};
  if (file_.bytes() == 0 || !has_anything()) return file_.discard();
  if (const std::string wrong = file_.finish(kTraceTail); trouble_.empty()) trouble_ = wrong;
}

}  // namespace gapscope::sampler
