#include "core/load/load_trace.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "core/base/failure.h"
#include "core/base/free_memory.h"
#include "core/base/parallel.h"
#include "core/base/readable_folders.h"
#include "core/base/text.h"
#include "core/load/blocks.h"
#include "core/load/byte_source.h"
#include "core/load/event_stream.h"
#include "core/load/foreign.h"
#include "core/load/load_timeline.h"
#include "core/load/make_trace.h"
#include "core/load/top_level.h"
#include "core/trace/trace.h"

namespace gapscope {
namespace {

// Traces of the beginning of a file, built alongside the load that still reads the rest.
class PartBuilder {
 public:
  using OnPart = std::function<void(std::shared_ptr<const Trace>, const std::atomic<bool>&)>;

  explicit PartBuilder(OnPart on_part) : on_part_(std::move(on_part)) {}
  // Stops and waits: within 100 ms.
  ~PartBuilder() { stop(); }
  PartBuilder(const PartBuilder&) = delete;
  PartBuilder& operator=(const PartBuilder&) = delete;

  // Copies what `stream` has (between two of its runs) and builds `part` from it on another thread, then hands it to
  // `on_part`. While an earlier part is still being built this one is left out: the machine is busy enough. So it is where
  // memory or a thread is not available.
  void build(const EventStream& stream, std::shared_ptr<Trace> part);
  // No part is wanted any more.
  void stop() { cancel_ = true; }

 private:
  OnPart on_part_;
  std::atomic<bool> cancel_{false};
  std::atomic<bool> busy_{false};
  Thread thread_;  // last: it uses the above, and is joined before they go
};

// Previews are best effort: the load itself reports a lack of memory.
void PartBuilder::build(const EventStream& stream, std::shared_ptr<Trace> part) {
  if (!on_part_ || busy_) return;
  try {
    BuildInput input{stream.copy_rows(), 1, &cancel_};
    busy_ = true;
    thread_ = Thread(
        [this, input = std::make_shared<BuildInput>(std::move(input)), part = std::move(part)] {
          const bool built = make_trace(std::move(*input), *part);
          part->report = {};
          if (built && part->slice_count() > 0) on_part_(part, cancel_);
          busy_ = false;
        },
        [this]() noexcept { busy_ = false; });
  } catch (...) {
    busy_ = false;
  }
}

using Clock = std::chrono::steady_clock;

// Text and its index (4 bytes a structural character) stay in a core's cache.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kHeadBytes = 64 * 1024;
constexpr std::uint64_t kTextOfPacked = 10;  // a packed file holds at least so many times its bytes of text
// At its peak a load takes so much of the bytes of its text (measured: 0.30 to 0.39).
constexpr std::uint64_t memory_of_text(std::uint64_t bytes) { return bytes * 2 / 5 + kRoomForSmallThings; }

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

Error cancelled() { return Error{"Cancelled."}; }

// What reads bytes does not know whose: it says "The file".
Error named(Error error, const std::string& shown) {
  constexpr std::string_view kNameless = "The file ";
  if (error.message.starts_with(kNameless)) error.message.replace(0, kNameless.size() - 1, shown);
  for (std::size_t at = 0; (at = error.message.find(kFileAgain, at)) != std::string::npos; at += shown.size())
    error.message.replace(at, 1, shown);
  return error;
}

class Loader {
 public:
  Loader(std::string name, std::unique_ptr<ByteSource> source, const LoadOptions& options, LoadTimeline* timeline = nullptr)
      : name_(std::move(name)),
        shown_(printable(name_)),
        rank_(split_rank_path(name_).second),
        source_(std::move(source)),
        options_(options),
        progress_(options.progress != nullptr ? *options.progress : own_progress_),
        timeline_(timeline) {
    if (options_.threads <= 0) options_.threads = hardware_threads();
    if (options_.batch_bytes == 0) options_.batch_bytes = kBlockBytes;
  }

  Result<std::shared_ptr<const Trace>> run() {
    try {
      return load();
    } catch (...) {
      const MemoryNeed need{memory_needed(), free_before_};
      trace_.reset();  // makes room for the sentence
      head_ = {};
      return current_failure("open", name_, need);
    }
  }

 private:
  Result<std::shared_ptr<const Trace>> load() {
    progress_.bytes_total = source_->file_bytes_total();
    set_stage(LoadStage::reading);
    if (auto error = find_events()) return *error;
    trace_->path = name_;
    trace_->stated = options_.stated;
    BuildInput input;
    if (auto error = parse_events(input)) return *error;
    input.only_rank = rank_;
    set_stage(LoadStage::building);
    return build(std::move(input));
  }

  // Of the whole load, as foreseen from the size of the file; 0 when that is not known.
  std::uint64_t memory_needed() const {
    const std::uint64_t bytes = source_->file_bytes_total();
    return bytes == 0 ? 0 : memory_of_text(source_->is_plain() ? bytes : kTextOfPacked * bytes);
  }

  void set_stage(LoadStage stage) { progress_.stage = static_cast<int>(stage); }

  // Reads until the events array begins; leaves what follows in head_.
  std::optional<Error> find_events() {
    std::size_t want = std::min(kHeadBytes, std::max<std::size_t>(options_.batch_bytes, 16));
    for (;;) {
      if (progress_.cancel) return cancelled();
      const std::size_t had = head_.size();
      head_.resize(had + want);
      Result<std::size_t> got = source_->read(head_.data() + had, want);
      if (!got) return named(got.error(), shown_);
      head_.resize(had + *got);
      text_bytes_ += *got;
      const bool is_last = *got < want;
      progress_.bytes_done = source_->file_bytes_read();
      if (offset_ == 0 && had == 0) beginning_ = head_;
      const TopLevel::State state = top_.feed(head_, offset_, is_last);
      head_.erase(0, top_.consumed());
      offset_ += top_.consumed();
      if (top_.is_lines()) lines_.emplace(*source_).put_commas(head_.data(), head_.size());
      if (state == TopLevel::State::events_begin) return std::nullopt;
      if (state == TopLevel::State::not_json) return not_json_error();
      if (state == TopLevel::State::finished || is_last) return no_events_error(state);
      want = std::max(want, head_.size());  // double, so that a header of many megabytes is not read again and again
    }
  }

  Error not_json_error() const {
    if (offset_ <= std::min(beginning_.size(), beginning_.find_first_not_of(" \t\r\n")))  // nothing that JSON could be
      if (std::string foreign = foreign_file(beginning_, name_, shown_); !foreign.empty()) return Error{std::move(foreign)};
    const bool binary =
        std::any_of(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(head_.size(), 64)),
                    [](char c) { return static_cast<unsigned char>(c) < 9 || (c > 13 && c < 32); });
    if (binary)
      return Error{
          fmt::format("{} holds unknown binary data at byte {} and is not a JSON trace. Export with "
                      "prof.export_chrome_trace(\"trace.json\").",
                      shown_, offset_)};
    return Error{fmt::format(
        "{} is not a JSON trace: unexpected \"{}\" at byte {}. Export with prof.export_chrome_trace(\"trace.json\").", shown_,
        printable(std::string_view(head_).substr(0, 20)), offset_)};
  }

  Error no_events_error(TopLevel::State state) const {
    if (source_->was_cut_short()) {
      return Error{fmt::format(
          "{} is cut short: its compressed data ends after {} bytes of text, before any event. Copy the file again.", shown_,
          text_bytes_)};
    }
    if (top_.keys().empty() && state != TopLevel::State::finished)
      return Error{fmt::format("{} ends at byte {} before any event. Was the recording still being written?", shown_,
                               offset_ + head_.size())};
    if (std::string foreign = foreign_json(top_.keys(), beginning_, shown_); !foreign.empty()) return Error{std::move(foreign)};
    return Error{json_without_events(top_.keys(), shown_)};
  }

  // Of JSON whose elements are no events at all.
  Error no_phase_error() const {
    if (std::string foreign = foreign_json({}, beginning_, shown_); !foreign.empty()) return Error{std::move(foreign)};
    return Error{
        fmt::format("{} is a JSON array, not a trace: {}. Open a file made by torch.profiler's export_chrome_trace or another "
                    "Chrome trace.",
                    shown_,
                    trace_->figures.events == 1 ? "its only element is no event"
                                                : fmt::format("none of its {} elements is an event", trace_->figures.events))};
  }

  std::optional<Error> parse_events(BuildInput& input) {
    const auto start = Clock::now();
    const std::size_t head_bytes = head_.size();
    // Each worker holds one block, and a few wait for a slow one before them.
    const int blocks = 2 * options_.threads + 2;
    BlockReader reader(lines_ ? *lines_ : *source_, std::move(head_), offset_, options_.batch_bytes, blocks, &progress_.cancel,
                       &progress_.bytes_done, timeline_);
    EventStream stream(top_, options_.threads, progress_, timeline_);
    PartBuilder parts(options_.on_part);
    for (const std::uint64_t until : part_ends()) {
      if (!stream.run(reader, until)) return cancelled();
      if (stream.at_end()) break;
      parts.build(stream, part_so_far());
    }
    if (!stream.run(reader)) return cancelled();
    parts.stop();
    if (const auto error = reader.error()) {
      trace_->report.add(ImportIssue::truncated, offset_ + head_bytes + reader.text_bytes(), error->message);
      read_error_ = named(*error, shown_);
    }
    text_bytes_ += reader.text_bytes();
    LoadFigures& figures = trace_->figures;
    figures.read_seconds = reader.read_seconds();
    figures.parse_seconds = seconds_since(start);
    report_end(stream, reader.zeros());
    input.rows = stream.take_rows();
    input.threads = options_.threads;
    input.cancel = &progress_.cancel;
    return std::nullopt;
  }

  // Where in the file a part is made of what was read. Copying, building and indexing once more what was parsed
  // costs about half of loading it: ten hundredths of the file are 5 % of the load.
  std::vector<std::uint64_t> part_ends() const {
    const std::uint64_t bytes = source_->file_bytes_total();
    const std::uint64_t text = source_->is_plain() ? bytes : kTextOfPacked * bytes;
    if (!options_.on_part || rank_ >= 0 || text < options_.least_bytes_for_parts) return {};
    return {bytes / 50, bytes / 12};
  }

  // All of a part but what is built. Its report stays empty: what looks odd half-way may not be in the end.
  std::shared_ptr<Trace> part_so_far() const {
    auto part = std::make_shared<Trace>();
    part->stated = options_.stated;
    part->is_part = true;
    part->path = name_;
    part->header = top_.header();
    part->is_plain_text = source_->is_plain();
    part->figures.file_bytes = source_->file_bytes_total();
    return part;
  }

  // `zeros`: where so many began that the rest was not read.
  void report_end(const EventStream& stream, std::optional<std::uint64_t> zeros) {
    LoadReport& report = trace_->report;
    const bool cut_inside = stream.was_truncated();
    if (zeros && stream.array_closed()) report.add(ImportIssue::text_after_end, *zeros, "zero bytes");
    if (zeros && !stream.array_closed() && !cut_inside)
      report.add(ImportIssue::truncated, *zeros, "megabytes of zero bytes, not read to their end");
    if (source_->was_cut_short() && !cut_inside)
      report.add(ImportIssue::truncated, text_bytes_, "the compressed data ends early");
    const bool open_array = !stream.array_closed() && !top_.is_lines();
    const bool open_object = top_.is_object() && !stream.object_closed();
    if ((open_array || open_object) && !cut_inside && !source_->was_cut_short() && !read_error_ && !zeros) {
      report.add(ImportIssue::missing_close, text_bytes_, open_array ? "]" : "}");
    }
    if (top_.members_after_events() != 0 && !only_trace_name_follows()) {
      report.add(ImportIssue::header_after_events, top_.first_after_events(), "", top_.members_after_events());
    }
    report.merge(top_.report());
  }

  // Kineto writes traceName last in every file: that is the format, not an oddity.
  bool only_trace_name_follows() const {
    return top_.members_after_events() == 1 && !top_.header().metadata.empty() &&
           top_.header().metadata.back().first == "traceName";
  }

  Result<std::shared_ptr<const Trace>> build(BuildInput input) {
    const auto start = Clock::now();
    const Timed timed(timeline_, LoadTimeline::Stage::building);
    trace_->header = top_.take_header();
    trace_->figures.threads = options_.threads;
    trace_->figures.file_bytes = source_->file_bytes_total() != 0 ? source_->file_bytes_total() : source_->file_bytes_read();
    trace_->figures.text_bytes = text_bytes_;
    trace_->restart_points = source_->restart_points();
    trace_->is_plain_text = source_->is_plain();
    trace_->spilled_text = source_->spilled_text();
    if (const std::string trouble = source_->spill_trouble(); !trouble.empty()) {
      trace_->report.add(ImportIssue::text_not_kept, kNoOffset, trouble);
    }
    if (!make_trace(std::move(input), *trace_)) {
      if (progress_.cancel) return cancelled();
      return Error{fmt::format("{} holds more slices than can be shown (4,294,967,279). Record fewer steps.", shown_)};
    }
    if (trace_->figures.events == 0 && read_error_) return *read_error_;
    if (trace_->figures.events == 0) {
      if (trace_->report.count(ImportIssue::truncated) != 0) {
        return Error{fmt::format("{} ends at byte {} before the first whole event. Was the recording still being written?",
                                 shown_, text_bytes_)};
      }
      if (std::string foreign = foreign_json({}, beginning_, shown_); !foreign.empty()) return Error{std::move(foreign)};
      if (trace_->report.count(ImportIssue::not_an_object) > 0) return Error{json_without_objects(top_.is_object(), shown_)};
      return Error{
          fmt::format("{} is a trace without events: its list of events {}. Was anything run while the profiler "
                      "was on?",
                      shown_, trace_->report.count(ImportIssue::bad_event) == 0 ? "is empty" : "has none that can be read")};
    }
    if (trace_->report.count(ImportIssue::unknown_phase) == trace_->figures.events) return no_phase_error();
    const auto is_of_rank = [&](const Process& process) { return process.rank == rank_; };
    if (rank_ >= 0 && std::none_of(trace_->processes.begin(), trace_->processes.end(), is_of_rank))
      return Error{fmt::format("{} is not there: the file does not hold rank {} among several.", shown_, rank_)};
    trace_->figures.build_seconds = seconds_since(start);
    trace_->figures.seconds = seconds_since(started_);
    trace_->figures.peak_rss_bytes = peak_rss_bytes();
    set_stage(LoadStage::done);
    return std::shared_ptr<const Trace>(std::move(trace_));
  }

  Clock::time_point started_ = Clock::now();
  std::uint64_t free_before_ = free_memory_bytes();
  std::string name_;
  std::string shown_;
  std::int32_t rank_;  // of a file of several ranks the one that is wanted; -1: all
  std::unique_ptr<ByteSource> source_;
  LoadOptions options_;
  LoadProgress own_progress_;
  LoadProgress& progress_;
  LoadTimeline* timeline_;
  TopLevel top_;
  std::string beginning_;  // of the text, for what is no trace
  std::string head_;
  std::uint64_t offset_ = 0;  // of head_ in the text
  std::uint64_t text_bytes_ = 0;
  std::optional<LineSource> lines_;  // where it is JSON lines: source_ as an array
  std::optional<Error> read_error_;  // ended reading early; what came before is shown
  std::shared_ptr<Trace> trace_ = std::make_shared<Trace>();
};

}  // namespace

std::string_view load_stage_name(LoadStage stage) {
  switch (stage) {
    case LoadStage::opening: return "opening";
    case LoadStage::reading: return "reading events";
    case LoadStage::building: return "building lanes";
    case LoadStage::indexing: return "indexing";
    case LoadStage::done: return "done";
  }
  return "";
}

namespace {

Result<std::shared_ptr<const Trace>> load_file(const std::string& path, const LoadOptions& options, LoadTimeline* timeline) {
  try {
    Result<std::unique_ptr<ByteSource>> source =
        open_source(path, options.progress != nullptr ? &options.progress->cancel : nullptr, options.spill_folder);
    if (!source) return named(source.error(), printable(path));
    return Loader(path, std::move(*source), options, timeline).run();
  } catch (...) {
    return current_failure("open", path);
  }
}

}  // namespace

Result<std::shared_ptr<const Trace>> load_trace(const std::string& path, const LoadOptions& options) {
  return load_file(path, options, nullptr);
}

Result<std::shared_ptr<const Trace>> load_trace_on(LoadTimeline& timeline, const std::string& path) {
  return load_file(path, {}, &timeline);
}

Result<std::shared_ptr<const Trace>> load_trace_from_text(std::string_view text, const std::string& name,
                                                          const LoadOptions& options) {
  try {
    Result<std::unique_ptr<ByteSource>> source = open_memory(text);
    if (!source) return source.error();
    return Loader(name, std::move(*source), options).run();
  } catch (...) {
    return current_failure("open", name);
  }
}

}  // namespace gapscope
