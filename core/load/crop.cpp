#include "core/load/crop.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/base/file_stamp.h"
#include "core/base/output_file.h"
#include "core/base/text.h"
#include "core/load/event_walk.h"
#include "core/load/gzip_packer.h"
#include "core/load/kept_events.h"
#include "core/load/spilled_text.h"
#include "core/load/valid_json.h"
#include "core/trace/crop_mark.h"

namespace gapscope {
namespace {

// An output file (core/base/output_file.h), packed where its name ends in .gz.
class FileWriter {
 public:
  static Result<std::unique_ptr<FileWriter>> create(const std::string& path, const OutputOptions& options);
  // Without finish(), nothing stays.
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // After a failure further text is ignored; finish() says why.
  void write(std::string_view text);
  bool failed() const { return file_->failed(); }
  std::optional<Error> finish();
  std::uint64_t text_bytes() const { return text_bytes_; }
  const std::string& path() const { return file_->path(); }

 private:
  explicit FileWriter(std::unique_ptr<OutputFile> file);

  std::unique_ptr<OutputFile> file_;
  std::optional<GzipPacker> packer_;
  std::uint64_t text_bytes_ = 0;
};

FileWriter::FileWriter(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {
  if (path().ends_with(".gz")) packer_.emplace([this](std::string_view packed) { file_->write(packed); });
}

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path, const OutputOptions& options) {
  Result<std::unique_ptr<OutputFile>> file = OutputFile::create(path, options);
  if (!file) return file.error();
  return std::unique_ptr<FileWriter>(new FileWriter(std::move(*file)));
}

void FileWriter::write(std::string_view text) {
  text_bytes_ += text.size();
  packer_ ? packer_->write(text) : file_->write(text);
}

std::optional<Error> FileWriter::finish() {
  if (packer_) packer_->finish();
  return file_->finish();
}

// Whether events may follow: it opens their array.
bool ends_in_events(std::string_view head) {
  for (const std::string_view end : {"[", ":", "\"traceEvents\""}) {
    head = head.substr(0, head.find_last_not_of(" \t\r\n") + 1);
    if (!head.ends_with(end)) return false;
    head.remove_suffix(end.size());
  }
  return true;
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Result<std::unique_ptr<ByteSource>> open_again(const Trace& trace, const std::atomic<bool>* cancel) {
  if (trace.spilled_text) return trace.spilled_text->open_at(0);
  std::error_code ignored;
  if (trace.path == "-" || !std::filesystem::is_regular_file(trace.path, ignored)) {
    if (trace.path == "-" || std::filesystem::exists(trace.path, ignored))
      return Error{fmt::format("{} cannot be read a second time. Open the trace from a file to save a part of it.",
                               trace.path == "-" ? "Standard input" : printable(trace.path))};
  }
  return open_source(trace.path, cancel);
}

std::optional<Error> trouble_with(const Trace& trace, const CropChoice& choice, const std::string& out) {
  if (out.ends_with(".xz") || out.ends_with(".zst"))
    return Error{
        fmt::format("{}: crops are written plain or as gzip. Choose a name that ends in .json or .json.gz.", printable(out))};
  if (choice.slice_count == 0 && !choice.everything)
    return Error{fmt::format(
        "No event of {} is in that window: the trace goes from {} to {} ns. Choose a window inside, or other lanes.",
        printable(trace.path), trace.span.begin, trace.span.end)};
  return std::nullopt;
}

Error changed(const Trace& trace) {
  return Error{
      fmt::format("{} has changed since it was opened, so the selected part has moved. Reload it.", printable(trace.path))};
}

// The text that was saved while loading stays as it is.
bool is_as_loaded(const Trace& trace, const CropOutput& output) {
  return trace.spilled_text || !output.stamp || stamp_of(trace.path) == output.stamp;
}

// The events before a window whose values still hold where it begins: the last of each counter's series.
class CountersInForce {
 public:
  CountersInForce(const Trace& trace, Ns begin) {
    for (const Counter& counter : trace.counters) {
      const auto later = [](Ns t, const CounterSample& sample) { return t < sample.time; };
      const auto next = std::upper_bound(counter.samples.begin(), counter.samples.end(), begin, later);
      if (!counter.process || next == counter.samples.begin()) continue;
      times_[{trace.processes[counter.process.index()].key, std::string(trace.strings[counter.name])}].insert(
          std::prev(next)->time);
    }
  }
  bool has(const LocalTables& tables, const TakenEvent& event) const {
    const auto at = times_.find({tables.lanes()[event.lane].process, std::string(tables.strings[StringId(event.name)])});
    return at != times_.end() && at->second.contains(event.time);
  }

 private:
  std::map<std::pair<std::string, std::string>, std::set<Ns>> times_;  // by process and name
};

class Cropper {
 public:
  Cropper(const Trace& trace, const CropChoice& choice, const CropOutput& output, FileWriter& file,
          std::vector<std::uint64_t> kept)
      : trace_(trace),
        choice_(choice),
        output_(output),
        file_(file),
        kept_(std::move(kept)),
        lanes_(trace, choice),
        in_force_(trace, choice.window.begin) {}

  std::optional<Error> run(EventWalk& walk) {
    const auto error = walk.run([&](const EventWalk::Stretch& stretch) {
      if (!head_written_) write_head(walk);
      events_seen_ += stretch.chunk.events;
      for (const ImportIssue kind : {ImportIssue::bad_event, ImportIssue::not_an_object, ImportIssue::truncated})
        figures_.unreadable += stretch.chunk.report.count(kind);
      for (const TakenEvent& event : stretch.events)
        if (wants(event, stretch.chunk.base_offset + event.at, walk.tables())) write_event(stretch, event);
    });
    if (error) return error;
    // What a damaged end withholds from this walk it withheld from the load; otherwise it is the reading that failed.
    if (walk.read_error() && trace_.report.count(ImportIssue::truncated) == 0)
      return is_as_loaded(trace_, output_) ? walk.read_error() : changed(trace_);
    if (next_ < kept_.size() || events_seen_ != trace_.figures.events || !is_as_loaded(trace_, output_)) return changed(trace_);
    if (figures_.events == 0) return nothing_left();
    write_more();
    write_tail(walk);
    figures_.text_bytes = file_.text_bytes();
    return std::nullopt;
  }
  const CropFigures& figures() const { return figures_; }

 private:
  // A file without events is one that no program can open.
  Error nothing_left() const {
    return Error{
        fmt::format("Nothing of {} can be saved: {} damaged beyond repair.", printable(trace_.path),
                    figures_.left_out == 1 ? "its only event in that window is" : "all its events in that window are")};
  }

  bool wants(const TakenEvent& event, std::uint64_t offset, const LocalTables& tables) {
    using What = TakenEvent::What;
    if (choice_.everything) return true;
    switch (event.what) {
      case What::slice:
      case What::flow:
      case What::half: return next_ < kept_.size() && kept_[next_] == offset && ++next_ != 0;
      case What::instant:
        return choice_.window.contains(event.time) && (event.is_global || lanes_.lane_wanted(tables, event.lane));
      case What::counter:
        return (choice_.window.contains(event.time) || in_force_.has(tables, event)) &&
               lanes_.process_wanted(tables, event.lane);
      case What::no_row: return true;
    }
    return true;
  }

  void write_event(const EventWalk::Stretch& stretch, const TakenEvent& event) {
    std::string_view text =
        event.mended.empty() ? stretch.text.substr(event.at, event.end - event.at) : std::string_view(event.mended);
    std::string mended;
    bool changed = !event.mended.empty();
    if (!json_.is_valid(text)) {
      mended = json_.mended(text);
      if (mended.empty()) {
        ++figures_.left_out;
        return;
      }
      text = mended;
      changed = true;
    }
    file_.write(figures_.events++ == 0 ? "\n" : ",\n");
    file_.write(text);
    figures_.mended += changed ? 1 : 0;
  }

  void write_more() {
    for (std::string text; output_.more && output_.more(text);) {
      file_.write(",\n");
      file_.write(text);
      ++figures_.events;
    }
  }

  // What is before the events as it is, if it is JSON with nothing in them, else as much of it as can be mended.
  void write_head(const EventWalk& walk) {
    head_written_ = true;
    std::string_view head = walk.head();
    if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
    const std::string_view close = walk.is_object() ? "]}" : "]";
    std::string whole = std::string(head).append(close);
    if (!json_.is_valid(whole)) {
      whole = json_.mended(whole);
      if (!whole.ends_with(close) || (walk.is_object() && !ends_in_events(whole.substr(0, whole.size() - close.size()))))
        whole.clear();  // it ends before the events, which would be no part of it
      figures_.header_lost = whole.empty();
      if (whole.empty()) whole = walk.is_object() ? "{\"traceEvents\": []}" : "[]";
    }
    std::string_view text = std::string_view(whole).substr(0, whole.size() - close.size());
    if (const std::size_t open = text.find('{'); walk.is_object() && open != text.npos) {
      const std::string_view members = text.substr(open + 1);
      const std::string mark = mark_before(members);
      file_.write(text.substr(0, open + 1));
      file_.write(mark);
      text = mark.empty() ? members : members.substr(bytes_of_mark(members));
    }
    file_.write(text);
  }

  void write_tail(const EventWalk& walk) {
    if (!head_written_) write_head(walk);
    const std::string open = walk.is_object() ? "{\"\": [" : "[";
    std::string tail = "]" + walk.tail();
    if (!json_.is_valid(open + tail)) {
      const std::string mended = json_.mended(open + tail + (walk.is_object() ? "}" : ""));
      figures_.header_lost = figures_.header_lost || (mended.empty() && walk.is_object());
      tail = !mended.empty() ? mended.substr(open.size()) : walk.is_object() ? "]}" : "]";
    }
    file_.write("\n");
    file_.write(tail);
    if (!tail.ends_with('\n')) file_.write("\n");
  }

  // That it is a part, as the first member, in place of the mark of the part that it is cut from. Empty where nothing is left
  // out, or where what is under that key was written by another program: then it stays.
  std::string mark_before(std::string_view members) const {
    if (choice_.everything || choice_.slice_count == trace_.slice_count()) return {};
    if (!trace_.header.find(kCropKey).empty() && bytes_of_mark(members) == 0) return {};
    const Span all{trace_.span.begin, trace_.span.end + 1};  // a slice without length may end it
    const std::optional<CropMark> before = crop_mark(trace_);
    const CropMark mark{intersect(choice_.window, before ? before->window : all), before ? before->whole : all};
    return mark.window.begin < mark.window.end ? mark_begin() + crop_mark_text(mark) + "," : std::string();
  }
  static std::string mark_begin() { return fmt::format("\"{}\": ", kCropKey); }
  // The mark of the crop that this one is cut from, in front of the other members as it was written.
  std::size_t bytes_of_mark(std::string_view members) const {
    const std::optional<CropMark> before = crop_mark(trace_);
    const std::string mark = before ? mark_begin() + crop_mark_text(*before) + "," : std::string();
    return members.starts_with(mark) ? mark.size() : 0;
  }

  const Trace& trace_;
  const CropChoice& choice_;
  const CropOutput& output_;
  FileWriter& file_;
  std::vector<std::uint64_t> kept_;
  std::size_t next_ = 0;
  std::uint64_t events_seen_ = 0;
  LanesOfWalk lanes_;
  CountersInForce in_force_;
  ValidJson json_;
  bool head_written_ = false;
  CropFigures figures_;
};

}  // namespace

std::vector<std::string> CropFigures::remarks() const {
  std::vector<std::string> out;
  const auto add = [&](std::uint64_t count, const char* one, const char* many) {
    if (count != 0)
      out.push_back(fmt::format("{} {}", format_count(static_cast<std::int64_t>(count)), count == 1 ? one : many));
  };
  add(mended, "event was damaged and is repaired", "events were damaged and are repaired");
  add(left_out, "event was damaged beyond repair and is left out", "events were damaged beyond repair and are left out");
  add(unreadable, "part of the file is not a readable event and is left out",
      "parts of the file are not readable events and are left out");
  if (header_lost) out.emplace_back("the text around the events was damaged and is left out");
  return out;
}

Result<CropFigures> write_crop(const Trace& trace, const CropChoice& choice, const std::string& out, const CropOutput& output) {
  if (auto error = trouble_with(trace, choice, out)) return *error;
  if (!is_as_loaded(trace, output)) return changed(trace);
  const std::array<std::string, 2> inputs = {trace.path, output.also_read};
  Result<std::unique_ptr<FileWriter>> file =
      FileWriter::create(out, {std::span(inputs).first(output.also_read.empty() ? 1 : 2), output.if_taken});
  if (!file) return file.error();
  std::vector<std::uint64_t> kept;
  if (!choice.everything && needs_walk(trace)) {
    Result<std::unique_ptr<ByteSource>> source = open_again(trace, output.cancel);
    if (!source) return source.error();
    Result<std::vector<std::uint64_t>> offsets = kept_offsets(trace, choice, **source, output.cancel);
    if (!offsets) return offsets.error();
    kept = std::move(*offsets);
  } else if (!choice.everything) {
    kept = offsets_of_slices(trace, choice);
  }
  Result<std::unique_ptr<ByteSource>> source = open_again(trace, output.cancel);
  if (!source) return source.error();
  EventWalk walk(**source, output.cancel, output.bytes_done);
  Cropper cropper(trace, choice, output, **file, std::move(kept));
  if (auto error = cropper.run(walk)) return *error;
  if (auto error = (*file)->finish()) return *error;
  CropFigures figures = cropper.figures();
  figures.path = (*file)->path();
  return figures;
}

}  // namespace gapscope
